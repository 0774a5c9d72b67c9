import { Alert, AlertActionLink, PageSection } from '@patternfly/react-core';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, Outlet, useLocation, useMatches, useParams } from 'react-router';
import { pageAddress } from '../api/base';
import { useMe } from '../api/me';
import { signedIn, useSignedOut, type SignedOut } from '../api/signedOut';
import { paths } from './paths';

/** The handle of routes whose readers would lose what they have entered if they were led away. */
export const HOLDS_INPUT = { holdsInput: true } as const;

/** The page, or the way to log in as soon as the server asks for it, and from there back. */
export function SignedInOutlet() {
  const refused = useSignedOut();
  const { pathname, search } = useLocation();
  const { cluster } = useParams();
  const holdsInput = useMatches().some(({ handle }) => handle === HOLDS_INPUT);
  const asked = pathname === paths.login() ? null : refused;
  if (asked && !holdsInput) {
    return <Navigate to={paths.login(cluster ?? asked.cluster, pathname + search)} replace />;
  }
  // The page stays the same one, with what was entered, when the alert comes and goes.
  return (
    <>
      {asked && <SignedOutAlert refused={asked} />}
      <Outlet />
    </>
  );
}

/** Asks to log in elsewhere, and goes once somebody has. */
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
