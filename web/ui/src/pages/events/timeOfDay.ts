/** Formats the local time of day with the same number of digits in every language. */
export function timeOfDay(time: string): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, '0')).join(':');
}
