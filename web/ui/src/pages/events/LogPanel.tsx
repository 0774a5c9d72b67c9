import { Button, Card, CardBody, CardHeader, CardTitle } from '@patternfly/react-core';
import { ArrowDownIcon } from '@patternfly/react-icons';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useStatusWord } from '../../app/useStatusWord';
import { useServerWords } from '../../i18n/serverWords';
import type { SessionRef } from '../../session/SessionFollower';
import type { SessionState } from '../../session/state';
import { LogLine } from './LogLine';
import { LogTools } from './LogTools';
import { lineText } from './lineText';
import styles from './log.module.css';
import { useFollowEnd } from './useFollowEnd';

/**
 * The newest lines, as in a terminal. It follows the end. After the user has
 * scrolled up, the displayed lines stay, even if they are no longer among the newest
 * ones, until the user returns to the end.
 */
export function LogPanel({ of, session: { lines, linesSeen, started } }: { of: SessionRef; session: SessionState }) {
  const { t, i18n } = useTranslation('events');
  const statusWord = useStatusWord();
  const [search, setSearch] = useState('');
  const [times, setTimes] = useState(false);
  const { panel, shown, onScroll, jump } = useFollowEnd({ lines, linesSeen });
  const notShown = shown.linesSeen - shown.lines.length;
  const news = linesSeen - shown.linesSeen;
  const writer = { t, language: i18n.language, statusWord, words: useServerWords() };
  const wanted = search.toLowerCase();
  const found = wanted === '' ? shown.lines : shown.lines.filter((line) => lineText(line, writer).toLowerCase().includes(wanted));
  return (
    <Card isCompact component="section">
      <CardHeader
        hasWrap
        actions={{
          actions: (
            <LogTools
              of={of}
              lines={found}
              writer={writer}
              search={search}
              onSearch={setSearch}
              times={times}
              onTimes={setTimes}
            />
          ),
          hasNoOffset: true,
        }}
      >
        <CardTitle component="h2">{t('log.title')}</CardTitle>
      </CardHeader>
      <CardBody>
        <div className={styles.frame}>
          {/* Screen readers do not announce lines: there may be hundreds per second. */}
          <div
            ref={panel}
            className={styles.panel}
            onScroll={onScroll}
            tabIndex={0}
            role="log"
            aria-live="off"
            aria-label={t('log.label')}
            data-times={times}
          >
            {notShown > 0 && <div className={styles.aside}>{t('log.notShown', { count: notShown })}</div>}
            {found.map((line) => (
              <LogLine key={line.seq} line={line} search={search} {...writer} />
            ))}
            {lines.length === 0 && <div className={styles.aside}>{t('log.waiting')}</div>}
            {lines.length > 0 && found.length === 0 && <div className={styles.aside}>{t('log.notFound')}</div>}
            {started?.origin === 'outside' && <div className={styles.aside}>{t('log.outside')}</div>}
          </div>
          {jump && (
            <Button className={styles.jump} variant="secondary" size="sm" icon={<ArrowDownIcon />} onClick={jump}>
              {news > 0 ? t('log.jumpNew', { count: news }) : t('log.jump')}
            </Button>
          )}
        </div>
      </CardBody>
    </Card>
  );
}
