import { Alert, Modal, ModalBody, ModalHeader, Skeleton, Tab, Tabs, TabTitleText } from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../api/client';
import { PARTS, usePart, type Part } from '../../api/release';
import type { ReleaseRef } from '../../app/paths';
import { RevealButton } from '../../app/RevealButton';
import { Refusal } from '../../app/Refusal';
import { YamlEditor } from '../../editor';

interface RevisionModalProps {
  release: ReleaseRef;
  revision: number;
  /** The life to which it belongs, when it is not that of today. */
  lineage?: string;
  onClose: () => void;
}

/** Shows the parts of a revision. Secrets are masked unless revealed. */
export function RevisionModal({ release, revision, lineage, onClose }: RevisionModalProps) {
  const { t } = useTranslation('release');
  const [part, setPart] = useState<Part>('values');
  const [reveal, setReveal] = useState(false);
  const title = t('revisions.title', { name: release.name, revision });
  return (
    <Modal isOpen variant="large" onClose={onClose} aria-label={title}>
      <ModalHeader title={title} />
      <ModalBody tabIndex={0}>
        <RevealButton revealed={reveal} onReveal={setReveal} />
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
              <PartText release={release} revision={revision} lineage={lineage} part={each} reveal={reveal} />
            </Tab>
          ))}
        </Tabs>
      </ModalBody>
    </Modal>
  );
}

function PartText({ release, revision, lineage, part, reveal }: Omit<RevisionModalProps, 'onClose'> & { part: Part; reveal: boolean }) {
  const { t } = useTranslation(['release', 'compare']);
  const { data, error } = usePart(release, revision, part, { lineage, reveal });
  if (data === undefined) {
    return error instanceof ApiError ? <Refusal error={error} /> : <Skeleton height="24rem" />;
  }
  return (
    <>
      {reveal && <Alert isInline variant="warning" title={t('compare:reveal.done')} />}
      <YamlEditor label={t(`parts.${part}`)} value={data} />
    </>
  );
}
