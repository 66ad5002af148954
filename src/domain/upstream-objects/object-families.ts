import type { HttpMethod } from '../http.ts';
import type { ObjectAction } from './object-action.ts';
import type { ObjectKind } from './upstream-object.ts';

/**
 * Kinds of objects whose API is a table. This file has the actions. The routes are in `rest-shims/provider-objects.ts`,
 * those of skills in `rest-shims/skills.ts`.
 */
export type FamilyKind = Extract<ObjectKind, 'container' | 'fine_tuning_job' | 'eval' | 'eval_run' | 'skill'>;

/**
 * One action on an object of a family. `below` is the path after the id of the object. Its `:part` stands for the id of
 * a part, such as a file of a container.
 */
export interface FamilyAction extends ObjectAction {
  readonly kind: FamilyKind;
  readonly below: string;
  /**
   * What a successful answer is: the object, or JSON about its parts, or bytes that are forwarded. `deletion`: the
   * object no longer exists at the upstream.
   */
  readonly answers: 'object' | 'parts' | 'bytes' | 'deletion';
  /** Whether the body of the request is sent on. Other bodies are ignored. */
  readonly sendsBody: boolean;
  /** Whether an action on a part changes the object, so that its stored state is read again. */
  readonly changesObject?: true;
}

/** The actions that a family needs besides those of its routes. */
export interface ObjectFamily {
  readonly create: FamilyAction;
  readonly get: FamilyAction;
  /** Ends an object that could not be stored here. */
  readonly undo: FamilyAction;
}

/** Creates an action. It is free and creates nothing, unless `more` says otherwise. */
const action = (
  kind: FamilyKind,
  [name, method, below, callType]: readonly [name: string, method: HttpMethod, below: string, callType: string],
  more: Partial<Pick<FamilyAction, 'answers' | 'createsObject' | 'billed' | 'sendsBody' | 'changesObject'>> = {},
): FamilyAction => ({
  name,
  kind,
  method,
  below,
  callType,
  answers: 'object',
  sendsBody: more.createsObject === true,
  createsObject: false,
  billed: 'never',
  ...more,
});

const PARTS = { answers: 'parts' } as const;
const BYTES = { answers: 'bytes' } as const;
const DELETION = { answers: 'deletion' } as const;

export const CONTAINER = {
  create: action('container', ['containers.create', 'POST', '', 'acreate_container'], {
    createsObject: true,
    billed: 'created',
  }),
  get: action('container', ['containers.get', 'GET', '', 'aretrieve_container']),
  delete: action('container', ['containers.delete', 'DELETE', '', 'adelete_container'], DELETION),
  listFiles: action('container', ['containerFiles.list', 'GET', '/files', 'alist_container_files'], PARTS),
  addFile: action('container', ['containerFiles.create', 'POST', '/files', 'aupload_container_file'], {
    ...PARTS,
    createsObject: true,
  }),
  getFile: action('container', ['containerFiles.get', 'GET', '/files/:part', 'aretrieve_container_file'], PARTS),
  removeFile: action('container', ['containerFiles.delete', 'DELETE', '/files/:part', 'adelete_container_file'], PARTS),
  readFile: action(
    'container',
    ['containerFiles.content', 'GET', '/files/:part/content', 'aretrieve_container_file_content'],
    BYTES,
  ),
} as const;

export const FINE_TUNING_JOB = {
  create: action('fine_tuning_job', ['fineTuningJobs.create', 'POST', '', 'acreate_fine_tuning_job'], {
    createsObject: true,
  }),
  get: action('fine_tuning_job', ['fineTuningJobs.get', 'GET', '', 'aretrieve_fine_tuning_job']),
  cancel: action('fine_tuning_job', ['fineTuningJobs.cancel', 'POST', '/cancel', 'acancel_fine_tuning_job']),
  pause: action('fine_tuning_job', ['fineTuningJobs.pause', 'POST', '/pause', 'apause_fine_tuning_job']),
  resume: action('fine_tuning_job', ['fineTuningJobs.resume', 'POST', '/resume', 'aresume_fine_tuning_job']),
  listEvents: action(
    'fine_tuning_job',
    ['fineTuningJobs.events', 'GET', '/events', 'alist_fine_tuning_job_events'],
    PARTS,
  ),
  listCheckpoints: action(
    'fine_tuning_job',
    ['fineTuningJobs.checkpoints', 'GET', '/checkpoints', 'alist_fine_tuning_job_checkpoints'],
    PARTS,
  ),
} as const;

export const EVAL = {
  create: action('eval', ['evals.create', 'POST', '', 'acreate_eval'], { createsObject: true }),
  get: action('eval', ['evals.get', 'GET', '', 'aget_eval']),
  update: action('eval', ['evals.update', 'POST', '', 'aupdate_eval'], { sendsBody: true }),
  delete: action('eval', ['evals.delete', 'DELETE', '', 'adelete_eval'], DELETION),
} as const;

/** A run is charged for the usage that its upstream reports, when it has ended. */
export const EVAL_RUN = {
  create: action('eval_run', ['evalRuns.create', 'POST', '', 'acreate_run'], { createsObject: true, billed: 'later' }),
  get: action('eval_run', ['evalRuns.get', 'GET', '', 'aget_run']),
  cancel: action('eval_run', ['evalRuns.cancel', 'POST', '/cancel', 'acancel_run']),
  delete: action('eval_run', ['evalRuns.delete', 'DELETE', '', 'adelete_run'], DELETION),
  listItems: action('eval_run', ['evalRunItems.list', 'GET', '/output_items', 'alist_run_output_items'], PARTS),
  getItem: action('eval_run', ['evalRunItems.get', 'GET', '/output_items/:part', 'aget_run_output_item'], PARTS),
} as const;

/** A skill has versions, which are its parts. `list` is for the skills that the provider publishes. */
export const SKILL = {
  create: action('skill', ['skills.create', 'POST', '', 'acreate_skill'], { createsObject: true }),
  list: action('skill', ['skills.list', 'GET', '', 'alist_skills'], PARTS),
  get: action('skill', ['skills.get', 'GET', '', 'aget_skill']),
  delete: action('skill', ['skills.delete', 'DELETE', '', 'adelete_skill'], DELETION),
  createVersion: action('skill', ['skillVersions.create', 'POST', '/versions', 'acreate_skill_version'], {
    ...PARTS,
    createsObject: true,
    changesObject: true,
  }),
  listVersions: action('skill', ['skillVersions.list', 'GET', '/versions', 'alist_skill_versions'], PARTS),
  getVersion: action('skill', ['skillVersions.get', 'GET', '/versions/:part', 'aget_skill_version'], PARTS),
  deleteVersion: action('skill', ['skillVersions.delete', 'DELETE', '/versions/:part', 'adelete_skill_version'], {
    ...PARTS,
    changesObject: true,
  }),
  readVersion: action(
    'skill',
    ['skillVersions.content', 'GET', '/versions/:part/content', 'aget_skill_version_content'],
    BYTES,
  ),
} as const;

/** Providers with containers and evaluations. Other providers with files have none. */
const WITH_ALL_KINDS: ReadonlySet<string> = new Set([
  'openai',
  'azure',
  'custom_openai',
  'openai_like',
  'litellm_proxy',
]);

/** Kinds that only some providers with files have. */
const RARE_KINDS: ReadonlySet<ObjectKind> = new Set(['container', 'eval', 'eval_run']);

/** The provider that stores skills, and nothing else. */
const SKILL_PROVIDER = 'anthropic';

/** Whether a provider that stores objects may store objects of a kind. */
export const mayStore = (provider: string, kind: ObjectKind): boolean =>
  (kind === 'skill') === (provider === SKILL_PROVIDER) && (!RARE_KINDS.has(kind) || WITH_ALL_KINDS.has(provider));

/** Actions by kind that operations need without a route. */
export const FAMILIES: Readonly<Record<FamilyKind, ObjectFamily>> = {
  container: { ...CONTAINER, undo: CONTAINER.delete },
  fine_tuning_job: { ...FINE_TUNING_JOB, undo: FINE_TUNING_JOB.cancel },
  eval: { ...EVAL, undo: EVAL.delete },
  eval_run: { ...EVAL_RUN, undo: EVAL_RUN.cancel },
  skill: { ...SKILL, undo: SKILL.delete },
};
