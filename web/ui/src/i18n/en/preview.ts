export const preview = {
  button: 'Preview',
  title: 'Preview',
  running: 'helm renders the chart',
  stale: 'The form has changed since this preview was made.',
  failed: 'helm cannot render this',
  objects_one: 'helm would hand {{count}} object to the cluster. Nothing was changed.',
  objects_other: 'helm would hand {{count}} objects to the cluster. Nothing was changed.',
  hook: 'hook',
  hidden: 'hidden',
  hiddenHelp: 'helm keeps Secrets to itself when it only renders. This one comes from {{source}}.',
  notes: 'Notes',
} as const;
