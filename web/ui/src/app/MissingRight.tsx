import { CodeBlock, CodeBlockCode, Content, DescriptionList, Stack, StackItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { useParams } from 'react-router';
import type { ApiError } from '../api/client';
import { useMe } from '../api/me';
import { Fact } from './Fact';

/** Names the missing right and how to get it. Renders nothing if the server does not say which right it is. */
export function MissingRight({ error: { details } }: { error: ApiError }) {
  const { t } = useTranslation('common');
  const { cluster } = useParams();
  const { data: me } = useMe();
  const { verb, resource, group, namespace } = details;
  if (!verb || !resource) {
    return null;
  }
  const user = me?.clusters.find(({ id }) => id === cluster)?.user;
  // Otherwise helmtrail's own account lacks the right.
  const own = user != null && details.user === user;
  const command = own && resource === 'releases' ? grant(user, namespace) : null;
  return (
    <Stack hasGutter style={{ textAlign: 'start' }}>
      <StackItem>
        <DescriptionList isHorizontal isCompact>
          <Fact term={t('right.verb')}>{verb}</Fact>
          <Fact term={t('right.resource')}>{group ? `${resource}.${group}` : resource}</Fact>
          <Fact term={t('right.namespace')}>{namespace ?? t('right.everywhere')}</Fact>
          {own && <Fact term={t('right.user')}>{user}</Fact>}
        </DescriptionList>
      </StackItem>
      <StackItem>
        <Content component="p">{t(command ? 'right.ask' : 'right.askPlain')}</Content>
      </StackItem>
      {command && (
        <StackItem>
          <CodeBlock>
            <CodeBlockCode>{command}</CodeBlockCode>
          </CodeBlock>
        </StackItem>
      )}
    </Stack>
  );
}

/** Binds the role of deploy/rbac/reader.yaml. */
function grant(user: string, namespace?: string): string {
  const to = `--clusterrole=helmtrail-reader --user=${user}`;
  return namespace ? `kubectl create rolebinding helmtrail-reader -n ${namespace} ${to}` : `kubectl create clusterrolebinding helmtrail-reader ${to}`;
}
