import {
  type AlertingSettings,
  getAlertingSettings,
  getPageImage,
  type PageImage,
} from '../resolvers/callback-settings.ts';
import { type ActiveCallbacks, listCallbacks } from '../resolvers/setting-groups.ts';
import { listServices } from '../resolvers/outside-services.ts';
import { DEFAULT_TIMEOUT_SECONDS } from '../src/domain/chat/provider.ts';
import { REDIRECTED } from './errors.ts';
import { TEAM_CALLBACK_CONFIGS } from './helpers/answers/callbacks.ts';
import { type HttpAnswer, json, route, type RouteRow } from './helpers/http/route.ts';
import { iconAnswer } from './helpers/pages/icon.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';

const READING = {
  ...MANAGEMENT_READ,
  statuses: [200, 401],
} as const;

/** Lists that are always empty: these kinds of callbacks are not supported. */
const EMPTY_LISTS = {
  'litellm._async_success_callback': [],
  'litellm._async_failure_callback': [],
  'litellm._async_input_callback': [],
};

function renderActive({ success, failure, both, alerting }: ActiveCallbacks) {
  const all = [...both, ...failure, ...success];
  return {
    alerting: alerting.length === 0 ? 'None' : alerting.join(', '),
    'litellm.callbacks': both,
    'litellm.input_callback': [],
    'litellm.failure_callback': failure,
    'litellm.success_callback': success,
    ...EMPTY_LISTS,
    all_litellm_callbacks: all,
    num_callbacks: all.length,
    num_alerting: alerting.length,
    'litellm.request_timeout': DEFAULT_TIMEOUT_SECONDS,
  };
}

/** Supported callbacks, with the variables of each. */
const CONFIGS = [
  {
    id: 'otel',
    displayName: 'OpenTelemetry',
    logo: 'otel.png',
    supports_key_team_logging: false,
    dynamic_params: {
      OTEL_EXPORTER_OTLP_ENDPOINT: {
        type: 'text',
        ui_name: 'Endpoint',
        description: 'Address of the collector.',
        required: true,
      },
      OTEL_EXPORTER_OTLP_HEADERS: {
        type: 'password',
        ui_name: 'Headers',
        description: 'Headers of each request, as `name=value` pairs.',
        required: false,
      },
    },
    description: 'Sends spans of calls to a collector.',
  },
  ...TEAM_CALLBACK_CONFIGS,
];

const TYPES = { integer: 'Integer', flag: 'Boolean' } as const;

const NO_FORM_OPTIONS = { premium_field: false, nested_fields: null, field_options: null, field_tab: null } as const;

const renderAlerting = ({ alerting, isStored, settings }: AlertingSettings) => [
  {
    field_name: 'slack_alerting',
    field_type: 'Boolean',
    field_description: 'Alerts are sent to Slack.',
    field_value: alerting.includes('slack'),
    stored_in_db: isStored,
    field_default_value: null,
    ...NO_FORM_OPTIONS,
  },
  ...settings.map(({ name, field, value, isStored: isSettingStored }) => ({
    field_name: name,
    field_type: TYPES[field.kind],
    field_description: field.description,
    field_value: value,
    stored_in_db: isSettingStored,
    field_default_value: field.defaultValue,
    ...NO_FORM_OPTIONS,
  })),
];

const DEFAULT_IMAGE = iconAnswer('no-cache');

/**
 * Redirects the browser to the configured image, which the gateway does not fetch. Sends the default image if none is
 * configured.
 */
const renderImage = ({ address }: PageImage): HttpAnswer =>
  address === null
    ? DEFAULT_IMAGE
    : {
        status: REDIRECTED.status,
        headers: { location: new URL(address).href, 'cache-control': 'no-cache' },
        body: { kind: 'bytes', bytes: Buffer.alloc(0), contentType: 'text/plain; charset=utf-8' },
      };

const image = (name: string, path: string, kind: 'logo' | 'favicon'): RouteRow =>
  route({
    ...READING,
    credential: 'none',
    statuses: [200, 307],
    name,
    paths: [path],
    parse: () => ({ kind }),
    run: getPageImage,
    render: renderImage,
  });

/** Configured callbacks and alerts, and images of the dashboard. */
export const callbackSettingRoutes: readonly RouteRow[] = [
  route({
    ...READING,
    name: 'settings.activeCallbacks',
    paths: ['/active/callbacks', '/settings'],
    parse: () => undefined,
    run: (scope) => listCallbacks(scope, undefined),
    render: (active) => json(renderActive(active)),
  }),
  route({
    ...READING,
    name: 'settings.callbackKinds',
    paths: ['/callbacks/configs'],
    parse: () => undefined,
    // The operation only checks the rights of the caller. Its result is not used: the kinds are constant.
    run: listServices,
    render: () => json(CONFIGS),
  }),
  route({
    ...READING,
    name: 'settings.alerting',
    paths: ['/alerting/settings'],
    parse: () => undefined,
    run: (scope) => getAlertingSettings(scope, undefined),
    render: (settings) => json(renderAlerting(settings)),
  }),
  image('settings.logoImage', '/get_image', 'logo'),
  image('settings.iconImage', '/get_favicon', 'favicon'),
];
