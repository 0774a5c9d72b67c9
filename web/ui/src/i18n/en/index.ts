import { common } from './common';
import { events } from './events';
import { releases } from './releases';

/** All English texts, a namespace for each folder of pages. */
export const catalogue = { common, events, releases } as const;
