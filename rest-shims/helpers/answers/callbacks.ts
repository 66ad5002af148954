import { CALLBACK_KINDS } from '../../../src/domain/teams/logging.ts';

const DISPLAY_NAMES: Readonly<Record<string, string>> = {
  langfuse: 'Langfuse',
  langfuse_otel: 'Langfuse OpenTelemetry',
  langsmith: 'LangSmith',
};

/** Callbacks that teams may configure, with their variables, for the form of the dashboard. */
export const TEAM_CALLBACK_CONFIGS = [...CALLBACK_KINDS].map(([id, variables]) => ({
  id,
  displayName: DISPLAY_NAMES[id] ?? id,
  logo: `${id.replace('_otel', '')}.png`,
  supports_key_team_logging: true,
  dynamic_params: Object.fromEntries(
    Object.entries(variables).map(([name, { title, description, isRequired, isSecret }]) => [
      name,
      { type: isSecret ? 'password' : 'text', ui_name: title, description, required: isRequired },
    ]),
  ),
  description: 'Sends spans of the calls of a team.',
}));
