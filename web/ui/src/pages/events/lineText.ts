import type { TFunction } from 'i18next';
import { formatDuration } from '../../i18n/format';
import type { ServerWords } from '../../i18n/serverWords';
import type { Cause, EndEvent, ReleaseStatusEvent, StartedEvent } from '../../session/events';
import type { Line, Milestone, ResourceLine } from '../../session/state';

/** What formatting a line needs: texts, language, and translations of Helm's statuses and the server's sentences. */
export interface Writer {
  t: TFunction<'events'>;
  language: string;
  statusWord: (status: string) => string;
  words: ServerWords | null;
}

/** Formats a log line. The text may have line breaks. */
export function lineText(line: Line, writer: Writer): string {
  const { t, language, words } = writer;
  switch (line.type) {
    case 'LOG':
      return line.truncated ? `${line.line}${t('log.truncated')}` : line.line;
    case 'STARTED':
      return startedText(line, writer);
    case 'RELEASE_STATUS':
      return releaseText(line, writer);
    case 'RESOURCE_STATUS':
      return resourceText(line, writer);
    case 'RETRYING':
      return t('line.retrying', {
        attempt: line.attempt,
        max: line.maxAttempts,
        delay: formatDuration(line.delaySeconds, language),
        reason: (line.code && words?.retry(line.code)) ?? line.reason,
      });
    case 'COMPLETED':
    case 'FAILED':
    case 'CANCELED':
      return endText(line, writer);
  }
}

/** Formats a milestone without its time. */
export function milestoneText(milestone: Milestone, writer: Writer): string {
  const { t } = writer;
  switch (milestone.type) {
    case 'STARTED':
      return t(`timeline.started.${milestone.operation}`);
    case 'RELEASE_STATUS':
      return releaseText({ ...milestone, description: '' }, writer);
    case 'RETRYING':
      return t('timeline.retrying', { attempt: lineText(milestone, writer).replace(/[.。]$/, '') });
    case 'COMPLETED':
      return t('status.completed');
    case 'FAILED':
      return t('status.failed');
    case 'CANCELED':
      return t('status.canceled');
  }
}

function startedText({ operation, release, chart, user, timeoutSeconds }: StartedEvent, { t, language }: Writer): string {
  return [
    t(`line.started.${operation}`, { release }),
    chart && t('line.chart', { chart }),
    user && t('line.by', { user }),
    timeoutSeconds !== null && t('line.timeout', { timeout: formatDuration(timeoutSeconds, language) }),
  ]
    .filter(Boolean)
    .join(t('line.comma'));
}

function releaseText(event: ReleaseStatusEvent, { t, statusWord }: Writer): string {
  const { revision, status, previousStatus, change, description, late } = event;
  const values = { revision, status: statusWord(status), previous: statusWord(previousStatus ?? '') };
  let what: string;
  if (change === 'status') {
    what = previousStatus ? t('line.revisionWas', values) : t('line.revision', values);
  } else {
    what = t(`line.${change}`, values);
  }
  return [description && change === 'status' ? `${what} (${description})` : what, late && t('line.late')].filter(Boolean).join(' ');
}

function resourceText({ ready, total, causes }: ResourceLine, { t, words }: Writer): string {
  return [t('line.resources', { ready, total }), ...causes.map((cause) => causeLine(cause, words))].join('\n');
}

function endText({ type, durationSeconds, message }: EndEvent, { t, language }: Writer): string {
  const duration = formatDuration(durationSeconds, language);
  switch (type) {
    case 'COMPLETED':
      return t('line.completed', { duration });
    case 'FAILED':
      return t('line.failed', { duration, message: message ?? t('line.noMessage') });
    case 'CANCELED':
      return t('line.canceled', { duration });
  }
}

/** Formats a cause with its object, which most sentences already name. */
function causeLine(cause: Cause, words: ServerWords | null): string {
  const text = words?.cause(cause) ?? cause.text;
  const subject = `${cause.object.kind} ${cause.object.name}`;
  return `  ${text.includes(subject) ? text : `${subject}: ${text}`}`;
}
