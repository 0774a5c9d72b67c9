// Code generated from stream/helmcli/options_table.go by "go test ./stream/helmcli -update". DO NOT EDIT.

/** A Helm option for some operations. An option whose flag depends on the operation has several rows. */
export interface HelmOption {
  name: string;
  operations: readonly string[];
  input: 'flag' | 'choice' | 'number' | 'text' | 'labels';
  /** The words of a choice. */
  values?: readonly string[];
  /** The default of a number, absent if it depends on other options. */
  usual?: string;
  min?: number;
  /** The flag of Helm 4, absent for an option of helmtrail itself. */
  flag?: string;
  /** The flag of Helm 3 where it has another name. */
  helm3?: string;
  /** The first Helm release that has the option, absent if every supported one has it. */
  since?: string;
  /** The options that Helm refuses beside this one. */
  excludes?: readonly string[];
}

export const HELM_OPTIONS = [
  { name: 'createNamespace', operations: ['install', 'upgrade'], input: 'flag', flag: '--create-namespace' },
  { name: 'install', operations: ['upgrade'], input: 'flag', flag: '--install' },
  { name: 'wait', operations: ['install', 'upgrade', 'rollback', 'uninstall'], input: 'choice', values: ['false', 'hookOnly', 'legacy', 'true', 'watcher'], flag: '--wait' },
  { name: 'waitForJobs', operations: ['install', 'upgrade', 'rollback'], input: 'flag', flag: '--wait-for-jobs' },
  { name: 'rollbackOnFailure', operations: ['install', 'upgrade'], input: 'flag', flag: '--rollback-on-failure', helm3: '--atomic' },
  { name: 'cleanupOnFail', operations: ['upgrade', 'rollback'], input: 'flag', flag: '--cleanup-on-fail' },
  { name: 'forceReplace', operations: ['install', 'upgrade', 'rollback'], input: 'flag', flag: '--force-replace', helm3: '--force', excludes: ['forceConflicts'] },
  { name: 'forceConflicts', operations: ['install', 'upgrade', 'rollback'], input: 'flag', flag: '--force-conflicts', since: '4.0', excludes: ['forceReplace'] },
  { name: 'serverSide', operations: ['install'], input: 'choice', values: ['false', 'true'], flag: '--server-side', since: '4.0' },
  { name: 'serverSide', operations: ['upgrade', 'rollback'], input: 'choice', values: ['auto', 'false', 'true'], flag: '--server-side', since: '4.0' },
  { name: 'takeOwnership', operations: ['install', 'upgrade'], input: 'flag', flag: '--take-ownership', since: '3.17' },
  { name: 'historyMax', operations: ['upgrade', 'rollback'], input: 'number', usual: '10', flag: '--history-max', min: 0 },
  { name: 'noHooks', operations: ['install', 'upgrade', 'rollback', 'uninstall'], input: 'flag', flag: '--no-hooks' },
  { name: 'skipCRDs', operations: ['install', 'upgrade'], input: 'flag', flag: '--skip-crds' },
  { name: 'skipSchemaValidation', operations: ['install', 'upgrade'], input: 'flag', flag: '--skip-schema-validation', since: '3.16' },
  { name: 'disableOpenAPIValidation', operations: ['install', 'upgrade'], input: 'flag', flag: '--disable-openapi-validation' },
  { name: 'keepHistory', operations: ['uninstall'], input: 'flag', flag: '--keep-history' },
  { name: 'cascade', operations: ['uninstall'], input: 'choice', values: ['background', 'foreground', 'orphan'], flag: '--cascade' },
  { name: 'resetValues', operations: ['upgrade'], input: 'flag', flag: '--reset-values', excludes: ['reuseValues', 'resetThenReuseValues'] },
  { name: 'reuseValues', operations: ['upgrade'], input: 'flag', flag: '--reuse-values', excludes: ['resetValues', 'resetThenReuseValues'] },
  { name: 'resetThenReuseValues', operations: ['upgrade'], input: 'flag', flag: '--reset-then-reuse-values', since: '3.14', excludes: ['resetValues', 'reuseValues'] },
  { name: 'dryRun', operations: ['install', 'upgrade'], input: 'choice', values: ['client', 'server'], flag: '--dry-run', since: '3.15' },
  { name: 'dryRun', operations: ['rollback'], input: 'choice', values: ['client', 'server'], flag: '--dry-run' },
  { name: 'dryRun', operations: ['uninstall'], input: 'choice', values: ['client', 'server'], flag: '--dry-run' },
  { name: 'description', operations: ['install', 'upgrade', 'uninstall'], input: 'text', flag: '--description' },
  { name: 'description', operations: ['rollback'], input: 'text', flag: '--description', since: '4.2' },
  { name: 'labels', operations: ['install', 'upgrade'], input: 'labels', flag: '--labels' },
  { name: 'timeoutSeconds', operations: ['install', 'upgrade', 'rollback', 'uninstall'], input: 'number', usual: '300', flag: '--timeout', min: 1 },
  { name: 'deadlineSeconds', operations: ['install', 'upgrade', 'rollback', 'uninstall'], input: 'number', min: 1 },
  { name: 'retries', operations: ['install', 'upgrade', 'rollback'], input: 'number', usual: '2', min: 0 },
  { name: 'overridePending', operations: ['rollback', 'uninstall'], input: 'flag' },
] as const satisfies readonly HelmOption[];
