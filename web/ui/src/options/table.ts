import type { Options } from '../api/operations';
import type { options as texts } from '../i18n/en/options';

export type OptionName = keyof typeof texts.names;
export type Group = keyof typeof texts.groups;
type Operation = 'install' | 'upgrade' | 'rollback';

/** One option of the forms. docs/options.md says what each becomes in helm. */
export interface Option {
  name: OptionName & keyof Options;
  group: Group;
  operations: readonly Operation[];
  /** A list of words to choose from, a number with its default, or yes and no. */
  input: { kind: 'choice'; values: readonly string[] } | { kind: 'number'; usual: string; min: number } | { kind: 'flag' } | { kind: 'text' };
  /** The first helm that has it; absent for those that every one has that helmtrail runs. */
  since?: '3.14' | '3.16' | '3.17' | '4.0';
  /** What helm refuses beside it. */
  not?: readonly OptionName[];
}

const all = ['install', 'upgrade', 'rollback'] as const;
const forward = ['install', 'upgrade'] as const;
const flag = { kind: 'flag' } as const;

/** The options of the forms, in the order in which they are shown. */
export const OPTIONS: readonly Option[] = [
  { name: 'createNamespace', group: 'basic', operations: ['install'], input: flag },
  { name: 'wait', group: 'waiting', operations: all, input: flag },
  { name: 'waitForJobs', group: 'waiting', operations: all, input: flag },
  { name: 'timeoutSeconds', group: 'waiting', operations: all, input: { kind: 'number', usual: '300', min: 1 } },
  { name: 'deadlineSeconds', group: 'waiting', operations: all, input: { kind: 'number', usual: '', min: 1 } },
  { name: 'rollbackOnFailure', group: 'failure', operations: forward, input: flag },
  { name: 'cleanupOnFail', group: 'failure', operations: ['upgrade', 'rollback'], input: flag },
  { name: 'retries', group: 'failure', operations: all, input: { kind: 'number', usual: '2', min: 0 } },
  { name: 'reuseValues', group: 'values', operations: ['upgrade'], input: flag, not: ['resetValues', 'resetThenReuseValues'] },
  { name: 'resetThenReuseValues', group: 'values', operations: ['upgrade'], input: flag, since: '3.14', not: ['resetValues', 'reuseValues'] },
  { name: 'resetValues', group: 'values', operations: ['upgrade'], input: flag, not: ['reuseValues', 'resetThenReuseValues'] },
  { name: 'takeOwnership', group: 'conflicts', operations: forward, input: flag, since: '3.17' },
  { name: 'forceConflicts', group: 'conflicts', operations: all, input: flag, since: '4.0', not: ['forceReplace'] },
  { name: 'forceReplace', group: 'conflicts', operations: all, input: flag, not: ['forceConflicts'] },
  { name: 'serverSide', group: 'conflicts', operations: all, input: { kind: 'choice', values: ['true', 'false'] }, since: '4.0' },
  { name: 'noHooks', group: 'checks', operations: all, input: flag },
  { name: 'skipCRDs', group: 'checks', operations: ['install'], input: flag },
  { name: 'skipSchemaValidation', group: 'checks', operations: forward, input: flag, since: '3.16' },
  { name: 'disableOpenAPIValidation', group: 'checks', operations: forward, input: flag },
  { name: 'description', group: 'record', operations: forward, input: { kind: 'text' } },
  { name: 'historyMax', group: 'record', operations: ['upgrade', 'rollback'], input: { kind: 'number', usual: '10', min: 0 } },
];

/** Whether the installed helm has the option; one whose version is not known is taken to. */
export function hasOption({ since }: Option, helmVersion: string | undefined): boolean {
  const installed = numberOf(helmVersion ?? '');
  return since === undefined || installed === null || installed >= (numberOf(since) ?? 0);
}

/** The options once one of them was chosen, or `undefined` for no choice: what helm refuses beside it goes, and what it needs comes. */
export function choose(options: Options, option: Option, chosen: Options[keyof Options] | undefined, helmVersion: string | undefined): Options {
  const next: Options = { ...options, [option.name]: chosen };
  for (const other of chosen === undefined ? [] : (option.not ?? [])) {
    next[other] = undefined;
  }
  const serverSide = OPTIONS.find(({ name }) => name === 'serverSide');
  if (serverSide && hasOption(serverSide, helmVersion)) {
    // helm replaces objects only without server-side apply, and knows conflicts only with it.
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

/** A version without its patch, as a number to compare; null for what is no version. */
function numberOf(version: string): number | null {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version) ?? [];
  return major === undefined ? null : Number(major) * 1000 + Number(minor);
}
