import { DescriptionListDescription, DescriptionListGroup, DescriptionListTerm } from '@patternfly/react-core';
import type { ReactNode } from 'react';

/** One entry of a description list. */
export function Fact({ term, children }: { term: string; children: ReactNode }) {
  return (
    <DescriptionListGroup>
      <DescriptionListTerm>{term}</DescriptionListTerm>
      <DescriptionListDescription style={{ overflowWrap: 'anywhere' }}>{children}</DescriptionListDescription>
    </DescriptionListGroup>
  );
}
