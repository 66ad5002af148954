/**
 * Name of the tool that models without structured outputs must call, so that their answer matches a schema. The
 * arguments of the call become the answer text. Callers do not see the call.
 */
export const ANSWER_TOOL = 'lensgate_json_answer';
