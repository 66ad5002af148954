import {
  getPageSettings,
  getRouterSettings,
  getSettingGroup,
  getUserBanner,
  listCallbacks,
  removeSettingGroup,
  updateSettingGroup,
} from '../resolvers/setting-groups.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import type { GroupName } from '../src/domain/settings/setting-groups.ts';
import { parseObject } from './helpers/http/body-fields.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';
import {
  cacheValues,
  eventsSchema,
  eventValues,
  GROUP_FORMS,
  type GroupForm,
  groupSchema,
  renderCallbacks,
  renderRouterFields,
  renderRouterSettings,
} from './helpers/answers/setting-groups.ts';
import type { FailureForm } from './helpers/http/failure-form.ts';
import { MANAGEMENT, MANAGEMENT_READ } from './helpers/http/row-facts.ts';

/** Facts of the two route rows of a setting group: one reads the group, one updates it. */
interface GroupFacts {
  readonly group: GroupName;
  /** Suffix of the row names: `settings.get…` and `settings.update…`. */
  readonly suffix: string;
  readonly readPath: string;
  /** Method and path of the update. */
  readonly update: readonly ['PATCH' | 'POST' | 'PUT', string];
  /** Form of the answers to reads and updates. */
  readonly form: GroupForm;
  /** Subject of the message about a stored group. */
  readonly subject: string;
  readonly failureForm?: FailureForm;
}

const groupFacts = (
  group: GroupName,
  suffix: string,
  [readPath, method, updatePath = readPath]: readonly [string, 'PATCH' | 'POST' | 'PUT', string?],
  options: { readonly form: GroupForm; readonly subject: string; readonly failureForm?: FailureForm },
): GroupFacts => ({ group, suffix, readPath, update: [method, updatePath], ...options });

const dashboardPaths = (path: string): readonly [string, 'PATCH', string] => [
  `/get/${path}`,
  'PATCH',
  `/update/${path}`,
];

const TEXT: FailureForm = { body: 'text' };

/** Groups with the two common rows, to read and to update. Other groups have rows below. */
const GROUPS: readonly GroupFacts[] = [
  groupFacts('internalUser', 'InternalUser', dashboardPaths('internal_user_settings'), {
    form: 'schema',
    subject: 'Internal user settings',
  }),
  groupFacts('defaultTeam', 'DefaultTeam', dashboardPaths('default_team_settings'), {
    form: 'schema',
    subject: 'Default team settings',
  }),
  groupFacts('sso', 'Sso', dashboardPaths('sso_settings'), { form: 'provenance', subject: 'SSO settings' }),
  groupFacts('ui', 'Ui', dashboardPaths('ui_settings'), { form: 'schema', subject: 'UI settings' }),
  groupFacts('uiTheme', 'UiTheme', dashboardPaths('ui_theme_settings'), {
    form: 'theme',
    subject: 'UI theme settings',
  }),
  groupFacts('mcpSemanticFilter', 'McpSemanticFilter', dashboardPaths('mcp_semantic_filter_settings'), {
    form: 'schema',
    subject: 'MCP semantic filter settings',
  }),
  groupFacts('mcpToolSearch', 'McpToolSearch', dashboardPaths('mcp_tool_search_settings'), {
    form: 'schema',
    subject: 'MCP tool search settings',
  }),
  groupFacts('websearch', 'Websearch', dashboardPaths('websearch_interception_settings'), {
    form: 'active',
    subject: 'Web search interception settings',
  }),
  groupFacts('costDiscount', 'CostDiscount', ['/config/cost_discount_config', 'PATCH'], {
    form: 'values',
    subject: 'Cost discount configuration',
    failureForm: TEXT,
  }),
  groupFacts('costMargin', 'CostMargin', ['/config/cost_margin_config', 'PATCH'], {
    form: 'values',
    subject: 'Cost margin configuration',
    failureForm: TEXT,
  }),
  groupFacts('blockUnpriced', 'BlockUnpriced', ['/config/block_requests_for_models_without_pricing', 'PATCH'], {
    form: 'flat',
    subject: 'Blocking of models without pricing',
  }),
  groupFacts('emailEvents', 'EmailEvents', ['/email/event_settings', 'PATCH'], {
    form: 'events',
    subject: 'Email event settings',
  }),
  groupFacts('cloudZero', 'CloudZero', ['/cloudzero/settings', 'PUT'], {
    form: 'export',
    subject: 'CloudZero settings',
  }),
  groupFacts('vantage', 'Vantage', ['/vantage/settings', 'PUT'], { form: 'export', subject: 'Vantage settings' }),
  groupFacts('hashicorpVault', 'HashicorpVault', ['/config_overrides/hashicorp_vault', 'POST'], {
    form: 'vault',
    subject: 'HashiCorp Vault configuration',
  }),
  groupFacts('cache', 'Cache', ['/cache/settings', 'POST'], { form: 'cache', subject: 'Cache settings' }),
  groupFacts('coordinationRedis', 'CoordinationRedis', ['/coordination_redis/settings', 'POST'], {
    form: 'connection',
    subject: 'Coordination Redis settings',
  }),
];

const READING = { ...MANAGEMENT_READ, statuses: [200, 401] } as const;
const CHANGING = { ...MANAGEMENT, statuses: [200, 400, 401, 403, 422], bodyLimit: 1024 * 1024 } as const;

/** The settings of a body. */
function sentBy(form: GroupForm, body: Uint8Array): JsonObject {
  if (form === 'events') return eventValues(body);
  return form === 'cache' ? cacheValues(body) : parseObject(body);
}

function rowsOf({
  group: name,
  suffix,
  readPath,
  update: [method, path],
  form,
  subject,
  failureForm = { body: 'detail' },
}: GroupFacts): RouteRow[] {
  const { renderRead, renderUpdate } = GROUP_FORMS[form];
  return [
    route({
      ...READING,
      failureForm,
      name: `settings.get${suffix}`,
      paths: [readPath],
      parse: () => ({ name }),
      run: getSettingGroup,
      render: (view) => json(renderRead(view)),
    }),
    route({
      ...CHANGING,
      failureForm,
      method,
      name: `settings.update${suffix}`,
      bodySchema: form === 'events' ? eventsSchema() : groupSchema(name),
      paths: [path],
      parse: ({ body }) => ({ name, sent: sentBy(form, body) }),
      run: updateSettingGroup,
      render: (view) => json(renderUpdate(view, `${subject} updated successfully`)),
    }),
  ];
}

/** Settings that are read and written in groups. */
export const settingGroupRoutes: readonly RouteRow[] = [
  ...GROUPS.flatMap(rowsOf),
  route({
    ...READING,
    name: 'settings.getUserBanner',
    paths: ['/get/user_banner'],
    parse: () => undefined,
    run: (scope) => getUserBanner(scope, undefined),
    render: (view) => json(GROUP_FORMS.flat.renderRead(view)),
  }),
  route({
    ...CHANGING,
    method: 'PATCH',
    name: 'settings.updateUserBanner',
    failureForm: { body: 'detail' },
    bodySchema: groupSchema('userBanner'),
    paths: ['/update/user_banner'],
    parse: ({ body }) => ({ name: 'userBanner' as const, sent: parseObject(body) }),
    run: updateSettingGroup,
    render: (view) => json({ message: 'User banner updated successfully', banner: GROUP_FORMS.flat.renderRead(view) }),
  }),
  route({
    ...CHANGING,
    method: 'POST',
    name: 'settings.resetEmailEvents',
    failureForm: { body: 'detail' },
    paths: ['/email/event_settings/reset'],
    statuses: [200, 400, 401, 403],
    parse: () => ({ name: 'emailEvents' as const }),
    run: removeSettingGroup,
    render: () => json({ message: 'Email event settings reset to defaults' }),
  }),
  route({
    ...CHANGING,
    method: 'DELETE',
    name: 'settings.deleteHashicorpVault',
    failureForm: { body: 'detail' },
    paths: ['/config_overrides/hashicorp_vault'],
    statuses: [200, 400, 401, 403],
    parse: () => ({ name: 'hashicorpVault' as const }),
    run: removeSettingGroup,
    render: () => json({ message: 'HashiCorp Vault configuration deleted successfully', status: 'success' }),
  }),
  route({
    ...READING,
    name: 'settings.router',
    paths: ['/router/settings'],
    parse: () => undefined,
    run: (scope) => getRouterSettings(scope, undefined),
    render: (settings) => json(renderRouterSettings(settings)),
  }),
  route({
    ...READING,
    name: 'settings.routerFields',
    paths: ['/router/fields'],
    parse: () => undefined,
    run: (scope) => getRouterSettings(scope, undefined),
    render: (settings) => json(renderRouterFields(settings)),
  }),
  route({
    ...READING,
    name: 'settings.callbacks',
    paths: ['/get/config/callbacks'],
    parse: () => undefined,
    run: (scope) => listCallbacks(scope, undefined),
    render: (active) => json(renderCallbacks(active)),
  }),
  route({
    ...READING,
    name: 'settings.ssoReadiness',
    paths: ['/sso/readiness'],
    parse: () => ({ name: 'sso' as const }),
    run: getSettingGroup,
    render: ({ source }) =>
      json({
        status: 'healthy',
        sso_configured: source !== 'unset',
        message:
          source === 'unset'
            ? 'No SSO provider configured'
            : 'An SSO provider is configured. Sign-in by SSO is not supported.',
      }),
  }),
  route({
    ...READING,
    credential: 'none',
    statuses: [200],
    name: 'settings.logo',
    paths: ['/get_logo_url'],
    parse: () => undefined,
    run: (scope) => getPageSettings(scope, undefined),
    render: ({ logoUrl }) => json({ logo_url: logoUrl }),
  }),
  route({
    ...READING,
    credential: 'none',
    statuses: [200],
    name: 'settings.pages',
    paths: ['/.well-known/litellm-ui-config'],
    parse: () => undefined,
    run: (scope) => getPageSettings(scope, undefined),
    render: ({ isSsoConfigured }) =>
      json({
        server_root_path: '',
        proxy_base_url: null,
        auto_redirect_to_sso: false,
        admin_ui_disabled: false,
        sso_configured: isSsoConfigured,
        hide_default_credentials_hint: false,
        is_control_plane: false,
        mcp_stdio_enabled: false,
        workers: [],
      }),
  }),
];
