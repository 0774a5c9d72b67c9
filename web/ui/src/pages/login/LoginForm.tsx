import {
  ActionGroup,
  Alert,
  Button,
  Content,
  Form,
  FormGroup,
  FormHelperText,
  FormSelect,
  FormSelectOption,
  HelperText,
  HelperTextItem,
  TextInput,
} from '@patternfly/react-core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../../api/client';
import { useLogin, type SignedIn } from '../../api/me';
import { ErrorWords } from '../../app/ErrorWords';
import { Refusal } from '../../app/Refusal';
import { formatMoment } from '../../i18n/format';

interface LoginFormProps {
  /** The clusters to choose from. */
  clusters: readonly SignedIn[];
  /** The cluster that required the login. */
  asked: string | null;
  onDone: () => void;
}

/** Asks for a token of a cluster. The token is kept here only until it is sent. */
export function LoginForm({ clusters, asked, onDone }: LoginFormProps) {
  const { t } = useTranslation('login');
  const [cluster, setCluster] = useState(clusters.find(({ id }) => id === asked)?.id ?? clusters[0]?.id ?? '');
  const [token, setToken] = useState('');
  const login = useLogin();
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        login.mutate(
          { cluster, token },
          {
            onSuccess: onDone,
            onError: () => {
              setToken('');
            },
          },
        );
      }}
    >
      <Content component="p">{t('body')}</Content>
      {login.error && <Refused error={login.error} cluster={cluster} />}
      {clusters.length > 1 && (
        <FormGroup label={t('cluster')} fieldId="login-cluster">
          <FormSelect
            id="login-cluster"
            value={cluster}
            onChange={(_, value) => {
              setCluster(value);
              login.reset();
            }}
          >
            {clusters.map(({ id }) => (
              <FormSelectOption key={id} value={id} label={id} />
            ))}
          </FormSelect>
        </FormGroup>
      )}
      <FormGroup label={t('token')} fieldId="login-token" isRequired>
        <TextInput
          id="login-token"
          type="password"
          isRequired
          autoComplete="off"
          value={token}
          onChange={(_, value) => {
            setToken(value);
          }}
        />
        <FormHelperText>
          <HelperText>
            <HelperTextItem>
              {t('hint')} <code>{`kubectl create token NAME -n NAMESPACE`}</code>
            </HelperTextItem>
          </HelperText>
        </FormHelperText>
      </FormGroup>
      <ActionGroup>
        <Button type="submit" variant="primary" isLoading={login.isPending} isDisabled={login.isPending || token.trim() === ''}>
          {t('action')}
        </Button>
      </ActionGroup>
    </Form>
  );
}

/** Explains why a token was rejected. */
function Refused({ error, cluster }: { error: ApiError; cluster: string }) {
  const { t, i18n } = useTranslation('login');
  if (error.status !== 401 && error.details.field !== 'token') {
    return <Refusal error={error} />;
  }
  return (
    <Alert isInline variant="danger" title={t('refused.title')}>
      {error.details.expires
        ? t('refused.expired', { cluster, time: formatMoment(Date.parse(error.details.expires), i18n.language) })
        : error.status === 401
          ? t('refused.unknown', { cluster })
          : <ErrorWords error={error} />}
    </Alert>
  );
}
