/**
 * The tool that models without structured outputs are made to call, so that their answer fits a schema. What they call it
 * with is the answer; no caller sees the call.
 */
export const ANSWER_TOOL = 'lensgate_json_answer';
