import { useTranslation } from 'react-i18next';
import type { common } from '../i18n/en/common';

type KnownStatus = keyof typeof common.status;

/** A record, so that it does not compile without every status of the catalogue. */
const known: Record<KnownStatus, true> = {
  deployed: true,
  failed: true,
  superseded: true,
  uninstalled: true,
  uninstalling: true,
  unknown: true,
  'pending-install': true,
  'pending-upgrade': true,
  'pending-rollback': true,
};

const isKnown = (status: string): status is KnownStatus => Object.hasOwn(known, status);

/** Translates Helm's statuses. An unknown one is returned unchanged. */
export function useStatusWord(): (status: string) => string {
  const { t } = useTranslation('common');
  return (status) => (isKnown(status) ? t(`status.${status}`) : status);
}
