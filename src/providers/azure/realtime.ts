import { type RealtimeVendor, sessionQuery } from '../realtime.ts';
import { identityOf } from './azure.ts';

/** Versions of the older interface that have sessions are previews with a date. */
const DATED_PREVIEW = /^\d{4}-\d{2}-\d{2}-preview$/;

/** Sessions at Azure: under `/openai/v1`, or under `/openai` where the deployment names a version of the older interface. */
export const azureRealtime: RealtimeVendor = {
  addressOf({ apiBase, upstreamModel, options }, request) {
    const root = (apiBase ?? '').replace(/\/openai(\/v1|\/deployments\/.*)?$/, '');
    const version = options['api_version'] ?? 'v1';
    return DATED_PREVIEW.test(version)
      ? `${root}/openai/realtime?api-version=${version}&${sessionQuery('deployment', upstreamModel, request)}`
      : `${root}/openai/v1/realtime?${sessionQuery('model', upstreamModel, request)}`;
  },
  identityOf,
};
