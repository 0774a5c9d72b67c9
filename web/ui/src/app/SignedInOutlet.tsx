import { Alert, AlertActionLink, PageSection } from '@patternfly/react-core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, Outlet, useLocation, useMatches, useParams } from 'react-router';
import { pageAddress } from '../api/base';
import { useMe } from '../api/me';
import { signedIn, useSignedOut, type SignedOut } from '../api/signedOut';
import { paths } from './paths';

/** The handle of routes with input that would be lost by a redirect. */
export const HOLDS_INPUT = { holdsInput: true } as const;

/** Renders the page, or redirects to the login page and back when the server requires a login. */
export function SignedInOutlet() {
  const refused = useSignedOut();
  const { pathname, search } = useLocation();
  const { cluster } = useParams();
  const holdsInput = useMatches().some(({ handle }) => handle === HOLDS_INPUT);
  const asked = pathname === paths.login() ? null : refused;
  if (asked && !holdsInput) {
    return <Navigate to={paths.login(cluster ?? asked.cluster, pathname + search)} replace />;
  }
  // The page stays mounted and keeps its input when the alert comes and goes.
  return (
    <>
      {asked && <SignedOutAlert refused={asked} />}
      <Outlet />
    </>
  );
}

/** Asks to log in in another tab. It disappears after the login. */
function SignedOutAlert({ refused }: { refused: SignedOut }) {
  const { t } = useTranslation('login');
  const { data: me, dataUpdatedAt } = useMe();
  const known = me?.clusters.some(({ id, user }) => user !== null && (id === refused.cluster || refused.cluster === ''));
  useEffect(() => {
    if (known && dataUpdatedAt > refused.at) {
      signedIn();
    }
  }, [known, dataUpdatedAt, refused.at]);
  return (
    <PageSection>
      <Alert
        isInline
        variant="warning"
        title={t('lost.title')}
        actionLinks={
          <AlertActionLink component="a" href={pageAddress(paths.login(refused.cluster))} target="_blank">
            {t('lost.action')}
          </AlertActionLink>
        }
      >
        {t('lost.body')}
      </Alert>
    </PageSection>
  );
}
