import type { AnswerTypes } from './notation.ts';

const AGENT = `
    { identity: null, identity_managed: boolean, enabled: boolean, execution_mode: string, jwt_auth_configured: boolean,
    agent_id: string, agent_name: string, litellm_params: object, agent_card_params: object,
    object_permission: object | null, spend: number, tpm_limit: integer | null, rpm_limit: integer | null,
    session_tpm_limit: integer | null, session_rpm_limit: integer | null, static_headers: object,
    extra_headers: string[], access_group_ids: string[], kill_switch: object | null, keys: null, search_score: null,
    created_at: string | null, updated_at: string | null, created_by: string | null, updated_by: string | null }
`;
const PUBLICATION = '{ message: string, public_agent_groups: string[], updated_by: string }';

/** Answer types of the routes about A2A agents, in the notation of `http/type-notation.ts`. */
export const A2A_AGENT_ANSWERS: AnswerTypes = {
  'a2a.card': 'object',
  'a2aAgents.create': AGENT,
  'a2aAgents.delete': '{ message: string }',
  'a2aAgents.get': AGENT,
  'a2aAgents.hub': 'object[]',
  'a2aAgents.identity': `
    { identity: null, identity_managed: boolean, enabled: boolean, execution_mode: string, last_authenticated_at: null }
  `,
  'a2aAgents.identityProviders': '{ providers: string[] }',
  'a2aAgents.list': `(${AGENT})[]`,
  'a2aAgents.publish': PUBLICATION,
  'a2aAgents.publishAll': PUBLICATION,
  'a2aAgents.replace': AGENT,
  'a2aAgents.stop': '{ message: string, agent_id: string, status_code: integer }',
  'a2aAgents.update': AGENT,
};
