import { Skeleton } from '@patternfly/react-core';
import { lazy, Suspense } from 'react';
import type { YamlEditorProps } from './YamlEditor';

const Loaded = lazy(() => import('./YamlEditor'));

/** The YAML editor, loaded on first use. */
export function YamlEditor(props: YamlEditorProps) {
  return (
    <Suspense fallback={<Skeleton height={props.height === 'auto' ? '8rem' : (props.height ?? '24rem')} />}>
      <Loaded {...props} />
    </Suspense>
  );
}
