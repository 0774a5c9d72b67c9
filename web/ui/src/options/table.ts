import type { Options } from '../api/operations';
import type { options as texts } from '../i18n/en/options';

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
  since?: '3.14' | '3.16' | '3.17' | '4.0';
  /** The options that Helm refuses together with it. */
  not?: readonly OptionName[];
}

const all = ['install', 'upgrade', 'rollback'] as const;
const forward = ['install', 'upgrade'] as const;
const flag = { kind: 'flag' } as const;

/** The options of the forms, in display order. */
export const OPTIONS: readonly Option[] = [
  { name: 'createNamespace', flag: '--create-namespace', group: 'basic', operations: ['install'], input: flag },
  { name: 'wait', flag: '--wait', group: 'waiting', operations: all, input: flag },
  { name: 'waitForJobs', flag: '--wait-for-jobs', group: 'waiting', operations: all, input: flag },
  { name: 'timeoutSeconds', flag: '--timeout', group: 'waiting', operations: all, input: { kind: 'number', usual: '300', min: 1 } },
  { name: 'deadlineSeconds', group: 'waiting', operations: all, input: { kind: 'number', usual: '', min: 1 } },
  { name: 'rollbackOnFailure', flag: '--rollback-on-failure', helm3: '--atomic', group: 'failure', operations: forward, input: flag },
  { name: 'cleanupOnFail', flag: '--cleanup-on-fail', group: 'failure', operations: ['upgrade', 'rollback'], input: flag },
  { name: 'retries', group: 'failure', operations: all, input: { kind: 'number', usual: '2', min: 0 } },
  { name: 'reuseValues', flag: '--reuse-values', group: 'values', operations: ['upgrade'], input: flag, not: ['resetValues', 'resetThenReuseValues'] },
  { name: 'resetThenReuseValues', flag: '--reset-then-reuse-values', group: 'values', operations: ['upgrade'], input: flag, since: '3.14', not: ['resetValues', 'reuseValues'] },
  { name: 'resetValues', flag: '--reset-values', group: 'values', operations: ['upgrade'], input: flag, not: ['reuseValues', 'resetThenReuseValues'] },
  { name: 'takeOwnership', flag: '--take-ownership', group: 'conflicts', operations: forward, input: flag, since: '3.17' },
  { name: 'forceConflicts', flag: '--force-conflicts', group: 'conflicts', operations: all, input: flag, since: '4.0', not: ['forceReplace'] },
  { name: 'forceReplace', flag: '--force-replace', helm3: '--force', group: 'conflicts', operations: all, input: flag, not: ['forceConflicts'] },
  { name: 'serverSide', flag: '--server-side', group: 'conflicts', operations: all, input: { kind: 'choice', values: ['true', 'false'] }, since: '4.0' },
  { name: 'noHooks', flag: '--no-hooks', group: 'checks', operations: all, input: flag },
  { name: 'skipCRDs', flag: '--skip-crds', group: 'checks', operations: ['install'], input: flag },
  { name: 'skipSchemaValidation', flag: '--skip-schema-validation', group: 'checks', operations: forward, input: flag, since: '3.16' },
  { name: 'disableOpenAPIValidation', flag: '--disable-openapi-validation', group: 'checks', operations: forward, input: flag },
  { name: 'description', flag: '--description', group: 'record', operations: forward, input: { kind: 'text' } },
  { name: 'historyMax', flag: '--history-max', group: 'record', operations: ['upgrade', 'rollback'], input: { kind: 'number', usual: '10', min: 0 } },
];

/** Reports whether the installed Helm has the option. An unknown version is assumed to have it. */
export function hasOption({ since }: Option, helmVersion: string | undefined): boolean {
  const installed = numberOf(helmVersion ?? '');
  return since === undefined || installed === null || installed >= (numberOf(since) ?? 0);
}

/** Returns the options with one of them set, or unset with `undefined`. Options that Helm refuses together with it are unset; options that it needs are set. */
export function choose(options: Options, option: Option, chosen: Options[keyof Options] | undefined, helmVersion: string | undefined): Options {
  const next: Options = { ...options, [option.name]: chosen };
  for (const other of chosen === undefined ? [] : (option.not ?? [])) {
    next[other] = undefined;
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
