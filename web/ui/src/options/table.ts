import type { Options } from '../api/operations';
import type { options as texts } from '../i18n/en/options';
import { HELM_OPTIONS, type HelmOption } from './generated';

export type OptionName = keyof typeof texts.names;
export type Group = keyof typeof texts.groups;
type Operation = 'install' | 'upgrade' | 'rollback';

/** One option of the forms. docs/options.md has the flag of each. */
export interface Option {
  name: OptionName & keyof Options;
  /** The flag of Helm 4; absent for an option of helmtrail itself. */
  flag?: string;
  /** The flag of Helm 3 where it has another name. */
  helm3?: string;
  group: Group;
  operations: readonly Operation[];
  /** A list of words, a number with its default, a boolean, or text. */
  input: { kind: 'choice'; values: readonly string[] } | { kind: 'number'; usual: string; min: number } | { kind: 'flag' } | { kind: 'text' };
  /** The first Helm version with the option; absent if every version that helmtrail supports has it. */
  since?: string;
  /** The options that Helm refuses together with it. */
  not?: readonly string[];
}

/** Where a form shows an option. A form may offer it for fewer operations, or with another input. */
interface Place {
  name: OptionName & HelmName;
  group: Group;
  operations?: readonly Operation[];
  input?: Option['input'];
}

type HelmName = (typeof HELM_OPTIONS)[number]['name'];

const OPERATIONS = ['install', 'upgrade', 'rollback'] as const;

/** The options of the forms, in display order. */
const PLACES: readonly Place[] = [
  { name: 'createNamespace', group: 'basic', operations: ['install'] },
  { name: 'wait', group: 'waiting', input: { kind: 'flag' } },
  { name: 'waitForJobs', group: 'waiting' },
  { name: 'timeoutSeconds', group: 'waiting' },
  { name: 'deadlineSeconds', group: 'waiting' },
  { name: 'rollbackOnFailure', group: 'failure' },
  { name: 'cleanupOnFail', group: 'failure' },
  { name: 'retries', group: 'failure' },
  { name: 'reuseValues', group: 'values' },
  { name: 'resetThenReuseValues', group: 'values' },
  { name: 'resetValues', group: 'values' },
  { name: 'takeOwnership', group: 'conflicts' },
  { name: 'forceConflicts', group: 'conflicts' },
  { name: 'forceReplace', group: 'conflicts' },
  { name: 'serverSide', group: 'conflicts', input: { kind: 'choice', values: ['true', 'false'] } },
  { name: 'noHooks', group: 'checks' },
  { name: 'skipCRDs', group: 'checks', operations: ['install'] },
  { name: 'skipSchemaValidation', group: 'checks' },
  { name: 'disableOpenAPIValidation', group: 'checks' },
  { name: 'description', group: 'record', operations: ['install', 'upgrade'] },
  { name: 'historyMax', group: 'record' },
];

/** The options that no form offers. */
export const NOT_IN_FORMS: readonly HelmName[] = ['install', 'dryRun', 'labels', 'keepHistory', 'cascade', 'overridePending'];

/** The options of the forms, with everything else from the server's own table. */
export const OPTIONS: readonly Option[] = PLACES.map(({ name, group, operations, input }) => {
  const rows: readonly HelmOption[] = HELM_OPTIONS.filter((row) => row.name === name);
  const offered = operations ?? OPERATIONS.filter((operation) => rows.some((row) => row.operations.includes(operation)));
  const row = rows.find((each) => offered.some((operation) => each.operations.includes(operation)));
  return { name, group, operations: offered, input: input ?? inputOf(row), flag: row?.flag, helm3: row?.helm3, since: row?.since, not: row?.excludes };
});

function inputOf(row: HelmOption | undefined): Option['input'] {
  switch (row?.input) {
    case 'choice':
      return { kind: 'choice', values: row.values ?? [] };
    case 'number':
      return { kind: 'number', usual: row.usual ?? '', min: row.min ?? 0 };
    case 'text':
      return { kind: 'text' };
    default:
      return { kind: 'flag' };
  }
}

/** Reports whether the installed Helm has the option. An unknown version is assumed to have it. */
export function hasOption({ since }: Option, helmVersion: string | undefined): boolean {
  const installed = numberOf(helmVersion ?? '');
  return since === undefined || installed === null || installed >= (numberOf(since) ?? 0);
}

/** Returns the options with one of them set, or unset with `undefined`. Options that Helm refuses together with it are unset; options that it needs are set. */
export function choose(options: Options, option: Option, chosen: Options[keyof Options] | undefined, helmVersion: string | undefined): Options {
  const next: Options = { ...options, [option.name]: chosen };
  for (const other of chosen === undefined ? [] : (option.not ?? [])) {
    next[other as keyof Options] = undefined;
  }
  const serverSide = OPTIONS.find(({ name }) => name === 'serverSide');
  if (serverSide && hasOption(serverSide, helmVersion)) {
    // Helm replaces objects only without server-side apply and has conflicts only with it.
    if (option.name === 'forceReplace') {
      next.serverSide = chosen ? 'false' : undefined;
    } else if (option.name === 'forceConflicts' && chosen) {
      next.serverSide = undefined;
    } else if (option.name === 'serverSide') {
      next[chosen === 'false' ? 'forceConflicts' : 'forceReplace'] = undefined;
    }
  }
  return next;
}

/** The name of the option's flag for the installed Helm, or undefined for an option of helmtrail itself. */
export function flagOf({ flag, helm3 }: Option, helmVersion: string | undefined): string | undefined {
  return helm3 !== undefined && (numberOf(helmVersion ?? '') ?? 4000) < 4000 ? helm3 : flag;
}

/** Returns major and minor version as one comparable number, or null if it is not a version. */
function numberOf(version: string): number | null {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined ? null : Number(major) * 1000 + Number(minor);
}
