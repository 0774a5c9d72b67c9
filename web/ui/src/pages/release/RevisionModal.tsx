import { Modal, ModalBody, ModalHeader, Skeleton, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { PARTS, usePart, type Part } from '../../api/release';
import type { ReleaseRef } from '../../app/paths';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';

interface RevisionModalProps {
  release: ReleaseRef;
  revision: number;
  /** The life to which it belongs, when it is not that of today. */
  lineage?: string;
  onClose: () => void;
}

/** What one revision holds, part by part. Secrets are masked. */
export function RevisionModal({ release, revision, lineage, onClose }: RevisionModalProps) {
  const { t } = useTranslation('release');
  const [part, setPart] = useState<Part>('values');
  const title = t('revisions.title', { name: release.name, revision });
  return (
    <Modal isOpen variant="large" onClose={onClose} aria-label={title}>
      <ModalHeader title={title} />
      <ModalBody tabIndex={0}>
        <Tabs
          activeKey={part}
          mountOnEnter
          unmountOnExit
          aria-label={title}
          onSelect={(_, key) => {
            setPart(PARTS.find((other) => other === key) ?? 'values');
          }}
        >
          {PARTS.map((each) => (
            <Tab key={each} eventKey={each} title={<TabTitleText>{t(`parts.${each}`)}</TabTitleText>}>
              <PartText release={release} revision={revision} lineage={lineage} part={each} />
            </Tab>
          ))}
        </Tabs>
      </ModalBody>
    </Modal>
  );
}

function PartText({ release, revision, lineage, part }: Omit<RevisionModalProps, 'onClose'> & { part: Part }) {
  const { t } = useTranslation('release');
  const { data, error } = usePart(release, revision, part, { lineage });
  if (data === undefined) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="24rem" />;
  }
  return <YamlEditor label={t(`parts.${part}`)} value={data} />;
}
