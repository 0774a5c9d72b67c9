import type { catalogue as english } from '../en';
import type { Translation } from '../translation';
import { common } from './common';
import { events } from './events';
import { releases } from './releases';

/** All Chinese texts. */
export const catalogue: Translation<typeof english> = { common, events, releases };
