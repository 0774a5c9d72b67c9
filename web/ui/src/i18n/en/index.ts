import { common } from './common';
import { events } from './events';
import { release } from './release';
import { releases } from './releases';
import { resources } from './resources';

/** All English texts, a namespace for each folder of pages. */
export const catalogue = { common, events, releases, resources, release } as const;
