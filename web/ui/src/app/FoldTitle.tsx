import { Flex } from '@patternfly/react-core';
import type { ReactNode } from 'react';

/** The content of a fold's button: a name of any length, then labels. */
export function FoldTitle({ name, children }: { name: string; children?: ReactNode }) {
  return (
    <Flex component="span" gap={{ default: 'gapSm' }} style={{ whiteSpace: 'normal', textAlign: 'start' }}>
      <span style={{ overflowWrap: 'anywhere' }}>{name}</span>
      {children}
    </Flex>
  );
}
