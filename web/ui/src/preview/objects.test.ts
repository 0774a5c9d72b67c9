import { expect, test } from 'vitest';
import { objectsOf } from './objects';

const MANIFEST = `---
# Source: web/templates/secret.yaml
# HIDDEN: The Secret output has been suppressed
---
# Source: web/templates/web.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  labels:
    name: not-this
  name: "web" # this
  namespace: other
spec:
  template:
    metadata:
      name: nor-this
---
# Source: web/templates/empty.yaml
# nothing
---
# Source: web/templates/job.yaml
kind: Job
apiVersion: batch/v1
metadata:
    name: migrate
    annotations:
        "helm.sh/hook": pre-install
`;

test('a manifest is split into objects, including hidden ones', () => {
  expect(objectsOf(MANIFEST).map(({ apiVersion, kind, name, namespace, hook, hidden, source }) => ({ apiVersion, kind, name, namespace, hook, hidden, source }))).toEqual([
    { apiVersion: '', kind: 'Secret', name: '', namespace: undefined, hook: false, hidden: true, source: 'web/templates/secret.yaml' },
    { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'other', hook: false, hidden: false, source: 'web/templates/web.yaml' },
    { apiVersion: 'batch/v1', kind: 'Job', name: 'migrate', namespace: undefined, hook: true, hidden: false, source: 'web/templates/job.yaml' },
  ]);
});

test('an object is shown as it was rendered', () => {
  expect(objectsOf(MANIFEST)[1]?.text.split('\n')[0]).toBe('apiVersion: apps/v1');
});
