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

/** All English texts, with a namespace per folder. */
export const catalogue = { common, login, events, releases, resources, release, editor, options, preview, trail, drift, install, change, compare } as const;
