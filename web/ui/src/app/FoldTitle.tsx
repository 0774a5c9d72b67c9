import { Flex } from '@patternfly/react-core';
import type { ReactNode } from 'react';

/** What the button of a fold says: a name, however long, and the labels behind it. */
export function FoldTitle({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <Flex component="span" gap={{ default: 'gapSm' }} style={{ whiteSpace: 'normal', textAlign: 'start' }}>
      <span style={{ overflowWrap: 'anywhere' }}>{name}</span>
      {children}
    </Flex>
  );
}
