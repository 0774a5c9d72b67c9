export const editor = {
  help: 'Ctrl+Space offers what the chart knows.',
  sound: 'No problem found.',
  problem: 'Line {{line}}: {{message}}.',
  more_one: '{{count}} more problem.',
  more_other: '{{count}} more problems.',
  rules: {
    mapping: 'values are keys with something under them',
    type: 'must be of the type {{allowed}}',
    enum: 'must be one of {{allowed}}',
    const: 'must be {{allowed}}',
    required: '{{allowed}} is missing',
    minimum: 'must be at least {{allowed}}',
    maximum: 'must be at most {{allowed}}',
    pattern: 'must fit the pattern {{allowed}}',
    false: "the chart's schema has no such key",
  },
} as const;
