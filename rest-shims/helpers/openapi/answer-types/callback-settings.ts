import type { AnswerTypes } from './notation.ts';

/** Answers of rows about callbacks, alerts, images and regulations. */
export const CALLBACK_ANSWERS: AnswerTypes = {
  'compliance.euAiAct': 'Compliance',
  'compliance.gdpr': 'Compliance',
  'settings.activeCallbacks': 'object',
  'settings.alerting': 'Setting[]',
  'settings.callbackKinds': `
    { id: string, displayName: string, logo: string, supports_key_team_logging: boolean, dynamic_params: Record<{
    type: string, ui_name: string, description: string, required: boolean }>, description: string }[]
  `,
  'settings.iconImage': { 'image/svg+xml': 'string' },
  'settings.logoImage': { 'image/svg+xml': 'string' },
};
