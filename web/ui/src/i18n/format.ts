const units = ['hour', 'minute', 'second'] as const;

/** Formats a duration in whole seconds: 1m 12s, 1分钟12秒. */
export function formatDuration(seconds: number, language: string): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = { hour: Math.floor(whole / 3600), minute: Math.floor(whole / 60) % 60, second: whole % 60 };
  const first = units.findIndex((unit) => parts[unit] > 0);
  return units
    .slice(first < 0 ? 2 : first)
    .filter((unit, i) => i === 0 || parts[unit] > 0)
    .map((unit) => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'narrow' }).format(parts[unit]))
    .join(language.startsWith('zh') ? '' : ' ');
}

const steps = [
  { unit: 'day', seconds: 86_400 },
  { unit: 'hour', seconds: 3600 },
  { unit: 'minute', seconds: 60 },
] as const;

/** Formats how long before `now` the time was. Both are in milliseconds. */
export function formatAgo(time: number, now: number, language: string): string {
  const ago = Math.max(0, (now - time) / 1000);
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
  for (const { unit, seconds } of steps) {
    if (ago >= seconds) {
      return format.format(-Math.floor(ago / seconds), unit);
    }
  }
  // Exact seconds would change constantly without being useful.
  return format.format(ago < 10 ? 0 : -Math.floor(ago / 10) * 10, 'second');
}

/** Formats a time to the second with its time zone. */
export function formatMoment(time: number, language: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long' }).format(time);
}
