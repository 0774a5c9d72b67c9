import type { catalogue as english } from '../en';
import type { Translation } from '../translation';
import { common } from './common';
import { login } from './login';
import { events } from './events';
import { release } from './release';
import { editor } from './editor';
import { options } from './options';
import { preview } from './preview';
import { trail } from './trail';
import { drift } from './drift';
import { install } from './install';
import { change } from './change';
import { compare } from './compare';
import { releases } from './releases';
import { resources } from './resources';

export { server } from './server';

/** All Chinese texts. */
export const catalogue: Translation<typeof english> = { common, login, events, releases, resources, release, editor, options, preview, trail, drift, install, change, compare };
