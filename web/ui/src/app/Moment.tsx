import { Timestamp } from '@patternfly/react-core';
import { useTranslation } from 'react-i18next';
import { formatAgo, formatMoment } from '../i18n/format';
import { useNow } from './useNow';

/** Shows how long ago a time was, and the exact time on hover. Renders nothing for an unknown time. */
export function Moment({ time }: { time: string }) {
  const { i18n } = useTranslation();
  const now = useNow(5000);
  const at = Date.parse(time);
  if (!(at > 0)) {
    return null;
  }
  return (
    <Timestamp date={new Date(at)} tooltip={{ variant: 'custom', content: formatMoment(at, i18n.language) }}>
      {formatAgo(at, now, i18n.language)}
    </Timestamp>
  );
}
