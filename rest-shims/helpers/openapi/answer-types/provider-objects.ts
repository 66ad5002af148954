import type { AnswerTypes } from './notation.ts';

const CONTAINER = `
  { id: string, object?: string, name?: string | null, status?: string, created_at?: integer | null,
    last_active_at?: integer | null, memory_limit?: string | null, expires_after?: object | null }
`;

const CONTAINER_FILE = `
  { id?: string, object?: string, container_id?: string, path?: string | null, bytes?: integer | null,
    source?: string | null, created_at?: integer | null }
`;

const JOB = `
  { id: string, object?: string, model?: string, status?: string, created_at?: integer | null,
    finished_at?: integer | null, fine_tuned_model?: string | null, training_file?: string | null,
    validation_file?: string | null, result_files?: string[], trained_tokens?: integer | null,
    hyperparameters?: object | null, method?: object | null, error?: object | null }
`;

const EVALUATION = `
  { id: string, object?: string, name?: string | null, created_at?: integer | null, data_source_config?: object | null,
    testing_criteria?: object[], metadata?: object | null }
`;

const RUN = `
  { id: string, object?: string, eval_id?: string | null, status?: string, model?: string | null, name?: string | null,
    created_at?: integer | null, data_source?: object | null, result_counts?: object | null,
    per_model_usage?: object[] | null, per_testing_criteria_results?: object[] | null, report_url?: string | null,
    error?: object | null, metadata?: object | null }
`;

const SKILL = `
  { id: string, type?: string, display_name?: string | null, display_title?: string | null,
    latest_version_id?: string | null, latest_version?: string | null, source?: unknown, created_at?: string | null,
    updated_at?: string | null }
`;

const SKILL_VERSION = `
  { id?: string, type?: string, skill_id?: string, version?: string | null, name?: string | null,
    description?: string | null, directory?: string | null, created_at?: string | null }
`;

const DELETED_PART = '{ id?: string, type?: string }';

const DELETED = '{ id: string, object: string, deleted: boolean }';

const pageOf = (type: string): string =>
  `{ object: string, data: ${type}[], first_id: string | null, last_id: string | null, has_more: boolean }`;

/** Answers of upstreams about parts of an object. They are not changed, except for ids. */
const PARTS = '{ object?: string, data?: object[], has_more?: boolean }';

/** Answers of route rows about objects of the APIs of providers. */
export const PROVIDER_OBJECT_ANSWERS: AnswerTypes = {
  'containerFiles.content': { '*/*': 'unknown' },
  'containerFiles.create': CONTAINER_FILE,
  'containerFiles.delete': '{ id?: string, object?: string, deleted?: boolean }',
  'containerFiles.get': CONTAINER_FILE,
  'containerFiles.list': PARTS,
  'containers.create': CONTAINER,
  'containers.delete': DELETED,
  'containers.get': CONTAINER,
  'containers.list': pageOf(CONTAINER),
  'evalRunItems.get': 'object',
  'evalRunItems.list': PARTS,
  'evalRuns.cancel': RUN,
  'evalRuns.create': RUN,
  'evalRuns.delete': DELETED,
  'evalRuns.get': RUN,
  'evalRuns.list': pageOf(RUN),
  'evals.create': EVALUATION,
  'evals.delete': DELETED,
  'evals.get': EVALUATION,
  'evals.list': pageOf(EVALUATION),
  'evals.update': EVALUATION,
  'fineTuningJobs.cancel': JOB,
  'fineTuningJobs.checkpoints': PARTS,
  'fineTuningJobs.create': JOB,
  'fineTuningJobs.events': PARTS,
  'fineTuningJobs.get': JOB,
  'fineTuningJobs.list': pageOf(JOB),
  'fineTuningJobs.pause': JOB,
  'fineTuningJobs.resume': JOB,
  'skillVersions.content': { '*/*': 'unknown' },
  'skillVersions.create': SKILL_VERSION,
  'skillVersions.delete': DELETED_PART,
  'skillVersions.get': SKILL_VERSION,
  'skillVersions.list': '{ data?: object[], has_more?: boolean, next_page?: string | null }',
  'skills.create': SKILL,
  'skills.delete': DELETED_PART,
  'skills.get': SKILL,
  'skills.list': '{ data: object[], has_more?: boolean, next_page?: string | null }',
};
