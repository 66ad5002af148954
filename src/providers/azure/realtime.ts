import { type RealtimeVendor, sessionQuery } from '../realtime.ts';
import { authHeadersOf } from './azure.ts';

/** Versions of the older API with realtime sessions: dated previews. */
const DATED_PREVIEW = /^\d{4}-\d{2}-\d{2}-preview$/;

/** Realtime sessions at Azure: under `/openai/v1`, or under `/openai` for a dated preview version. */
export const azureRealtime: RealtimeVendor = {
  addressOf({ apiBase, upstreamModel, options }, request) {
    const root = (apiBase ?? '').replace(/\/openai(\/v1|\/deployments\/.*)?$/, '');
    const version = options['api_version'] ?? 'v1';
    return DATED_PREVIEW.test(version)
      ? `${root}/openai/realtime?api-version=${version}&${sessionQuery('deployment', upstreamModel, request)}`
      : `${root}/openai/v1/realtime?${sessionQuery('model', upstreamModel, request)}`;
  },
  authHeadersOf,
};
