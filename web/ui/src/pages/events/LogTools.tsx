import { Button, Flex, SearchInput, Tooltip } from '@patternfly/react-core';
import { CheckIcon, ClockIcon, CopyIcon, DownloadIcon } from '@patternfly/react-icons';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { copyText, saveFile } from '../../app/handover';
import type { SessionRef } from '../../session/SessionFollower';
import type { Line } from '../../session/state';
import { readLines } from '../../session/readLines';
import { lineText, type Writer } from './lineText';

interface LogToolsProps {
  of: SessionRef;
  /** The displayed lines. */
  lines: readonly Line[];
  writer: Writer;
  search: string;
  onSearch: (search: string) => void;
  times: boolean;
  onTimes: (times: boolean) => void;
}

/** Search, timestamps, copy and download. */
export function LogTools({ of, lines, writer, search, onSearch, times, onTimes }: LogToolsProps) {
  const { t } = useTranslation('events');
  const asText = (line: Line) => `${line.time} ${lineText(line, writer)}\n`;
  const copy = useMutation({ mutationFn: () => copyText(lines.map((line) => (times ? asText(line) : `${lineText(line, writer)}\n`)).join('')) });
  const download = useMutation({
    mutationFn: async () => {
      const text: string[] = [];
      for await (const some of readLines(of)) {
        text.push(...some.map(asText));
      }
      saveFile(`${of.name}-${of.sessionId ?? ''}.log`, text);
    },
  });
  return (
    <Flex gap={{ default: 'gapXs' }} flexWrap={{ default: 'wrap', sm: 'nowrap' }} alignItems={{ default: 'alignItemsCenter' }}>
      <SearchInput
        aria-label={t('log.search')}
        placeholder={t('log.search')}
        value={search}
        resultsCount={search === '' ? undefined : lines.length}
        onChange={(_, value) => {
          onSearch(value);
        }}
        onClear={() => {
          onSearch('');
        }}
      />
      <Tooltip content={t('log.times')} aria="none">
        <Button
          variant="plain"
          isClicked={times}
          aria-pressed={times}
          aria-label={t('log.times')}
          icon={<ClockIcon />}
          onClick={() => {
            onTimes(!times);
          }}
        />
      </Tooltip>
      <Tooltip content={copy.isSuccess ? t('log.copied') : t('log.copy')} aria="none">
        <Button
          variant="plain"
          aria-label={t('log.copy')}
          icon={copy.isSuccess ? <CheckIcon /> : <CopyIcon />}
          onClick={() => {
            copy.mutate();
          }}
        />
      </Tooltip>
      <Tooltip content={download.isError ? t('log.downloadFailed') : t('log.download')} aria="none">
        <Button
          variant="plain"
          aria-label={t('log.download')}
          icon={<DownloadIcon />}
          isDisabled={download.isPending || !of.sessionId}
          onClick={() => {
            download.mutate();
          }}
        />
      </Tooltip>
    </Flex>
  );
}
