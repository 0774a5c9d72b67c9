import {
  Badge,
  Content,
  MenuToggle,
  SearchInput,
  Select,
  SelectList,
  SelectOption,
  Toolbar,
  ToolbarContent,
  ToolbarFilter,
  ToolbarItem,
} from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import type { Cluster, Release } from '../../api/releases';
import { paths } from '../../app/paths';
import { useStatusWord } from '../../app/useStatusWord';
import type { Filter } from './filter';

interface ReleaseToolbarProps {
  releases: readonly Release[];
  clusters: readonly Cluster[];
  /** The selected cluster; undefined for all. */
  cluster?: string;
  /** The number of releases that match the filter. */
  found: number;
  filter: Filter;
  onFilter: (filter: Filter) => void;
  onClear: () => void;
}

export function ReleaseToolbar({ releases, clusters, cluster, found, filter, onFilter, onClear }: ReleaseToolbarProps) {
  const { t } = useTranslation('releases');
  const word = useStatusWord();
  const withStatuses = (statuses: string[]) => {
    onFilter({ ...filter, statuses });
  };
  const without = (status: string) => filter.statuses.filter((s) => s !== status);
  return (
    <Toolbar clearAllFilters={onClear} clearFiltersButtonText={t('filter.clear')}>
      <ToolbarContent>
        {clusters.length > 1 && (
          <ToolbarItem>
            <ClusterSelect clusters={clusters} cluster={cluster} />
          </ToolbarItem>
        )}
        <ToolbarItem>
          <SearchInput
            aria-label={t('filter.text')}
            placeholder={t('filter.text')}
            style={{ inlineSize: '21rem', maxInlineSize: '100%' }}
            value={filter.text}
            onChange={(_, text) => {
              onFilter({ ...filter, text });
            }}
            onClear={() => {
              onFilter({ ...filter, text: '' });
            }}
          />
        </ToolbarItem>
        <ToolbarFilter
          categoryName={t('filter.status')}
          labels={filter.statuses.map((status) => ({ key: status, node: word(status) }))}
          deleteLabel={(_, label) => {
            withStatuses(without(typeof label === 'string' ? label : label.key));
          }}
          deleteLabelGroup={() => {
            withStatuses([]);
          }}
        >
          <StatusSelect
            counts={countStatuses(releases, filter.statuses)}
            chosen={filter.statuses}
            onToggle={(status) => {
              withStatuses(filter.statuses.includes(status) ? without(status) : [...filter.statuses, status]);
            }}
          />
        </ToolbarFilter>
        <ToolbarItem align={{ default: 'alignEnd' }} alignSelf="center">
          <Content component="small" aria-live="polite">
            {t('filter.shown', { count: found })}
          </Content>
        </ToolbarItem>
      </ToolbarContent>
    </Toolbar>
  );
}

/** The number of releases per status, including selected statuses that no release has. */
function countStatuses(releases: readonly Release[], chosen: readonly string[]): [string, number][] {
  const counts = new Map(chosen.map((status) => [status, 0]));
  for (const { status } of releases) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
}

interface StatusSelectProps {
  counts: [string, number][];
  chosen: readonly string[];
  onToggle: (status: string) => void;
}

function StatusSelect({ counts, chosen, onToggle }: StatusSelectProps) {
  const { t } = useTranslation('releases');
  const word = useStatusWord();
  const [open, setOpen] = useState(false);
  return (
    <Select
      role="menu"
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={(_, status) => {
        onToggle(String(status));
      }}
      selected={[...chosen]}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          isExpanded={open}
          isDisabled={counts.length === 0}
          onClick={() => {
            setOpen(!open);
          }}
          badge={chosen.length > 0 ? <Badge isRead>{chosen.length}</Badge> : undefined}
        >
          {t('filter.status')}
        </MenuToggle>
      )}
    >
      <SelectList>
        {counts.map(([status, count]) => (
          <SelectOption key={status} value={status} hasCheckbox isSelected={chosen.includes(status)}>
            {word(status)} <Badge isRead>{count}</Badge>
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}

/** The value for all clusters, which is not a valid cluster id. */
const ALL = '';

function ClusterSelect({ clusters, cluster }: { clusters: readonly Cluster[]; cluster?: string }) {
  const { t } = useTranslation('releases');
  const navigate = useNavigate();
  const [open, setOpen] = useState(false);
  return (
    <Select
      isOpen={open}
      onOpenChange={setOpen}
      selected={cluster ?? ALL}
      onSelect={(_, id) => {
        setOpen(false);
        void navigate(paths.releases(id === ALL ? undefined : String(id)));
      }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          isExpanded={open}
          aria-label={t('cluster')}
          onClick={() => {
            setOpen(!open);
          }}
        >
          {cluster ?? t('allClusters')}
        </MenuToggle>
      )}
    >
      <SelectList>
        <SelectOption value={ALL}>{t('allClusters')}</SelectOption>
        {clusters.map(({ id, server }) => (
          <SelectOption key={id} value={id} description={server}>
            {id}
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}
