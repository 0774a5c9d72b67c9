import { Breadcrumb, BreadcrumbItem } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { paths, type ReleaseRef } from './paths';

/** A name of 63 letters is wider than a phone's screen. */
const WRAP = { whiteSpace: 'normal', overflowWrap: 'anywhere' } as const;

/** The breadcrumb to a page of a release or, without `here`, to the release itself. */
export function ReleaseTrail({ release, here }: { release: ReleaseRef; here?: string }) {
  const { t } = useTranslation('common');
  return (
    <Breadcrumb>
      <BreadcrumbItem>
        <Link to={paths.releases()}>{t('releases')}</Link>
      </BreadcrumbItem>
      <BreadcrumbItem style={WRAP}>
        <Link to={paths.releases(release.cluster)}>{release.cluster}</Link>
      </BreadcrumbItem>
      <BreadcrumbItem style={WRAP}>
        <Link to={paths.releases(release.cluster, release.namespace)}>{release.namespace}</Link>
      </BreadcrumbItem>
      <BreadcrumbItem style={WRAP} isActive={here === undefined}>
        {here === undefined ? release.name : <Link to={paths.release(release)}>{release.name}</Link>}
      </BreadcrumbItem>
      {here !== undefined && (
        <BreadcrumbItem style={WRAP} isActive>
          {here}
        </BreadcrumbItem>
      )}
    </Breadcrumb>
  );
}
