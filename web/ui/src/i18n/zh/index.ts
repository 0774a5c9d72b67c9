import type { catalogue as english } from '../en';
import type { Translation } from '../translation';
import { common } from './common';
import { events } from './events';
import { release } from './release';
import { releases } from './releases';
import { resources } from './resources';

/** All Chinese texts. */
export const catalogue: Translation<typeof english> = { common, events, releases, resources, release };
