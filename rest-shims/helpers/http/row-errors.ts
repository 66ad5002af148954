import type { IncomingHttpHeaders } from 'node:http';
import {
  Conflict,
  type DomainError,
  Forbidden,
  InvalidInput,
  NotFound,
  Rejected,
  UpstreamFailed,
} from '../../../src/domain/errors.ts';
import { NotReady } from '../../../src/domain/not-ready.ts';
import { QueryFailed } from '../../../src/domain/rag/query.ts';
import { UploadRefused } from '../../../src/domain/rag/upload.ts';
import { FileOwnedStore } from '../../../src/domain/vector-stores/vector-store.ts';
import { SignInRefused, SignInThrottled } from '../../../src/domain/users/sign-in.ts';
import { CacheMissing } from '../../../src/domain/response-cache/cache-missing.ts';
import { StorageOff } from '../../../src/domain/settings/storage-off.ts';
import { OwnedByFile } from '../../../src/domain/settings/ownership.ts';
import { decisionError } from './dialect-errors.ts';
import { hasOauthForm, oauthBody, OAUTH_HEADERS } from './oauth-errors.ts';
import { mcpToolBody, mcpToolHeaders } from './mcp-tool-errors.ts';
import { mcpToolStatus, type RenderedError, renderError, statusOf } from '../../errors.ts';
import { isInvalidJson } from './management-errors.ts';
import type { FailureForm } from './failure-form.ts';
import { notReadyObject } from '../answers/health.ts';
import { failedLoginPage, refusedPage, SIGN_IN_HEADERS } from '../pages/sign-in.ts';

/** Status of a failure in the form of its row. The surfaces here are named for their statuses only. */
function formStatus(form: FailureForm, error: DomainError): number {
  const isMalformed =
    (form.notFoundAs === 'bad_request' && error instanceof NotFound) ||
    (form.body === 'problem' && error instanceof InvalidInput);
  // The surface `management` answers InvalidInput without issues with 400.
  if (isMalformed) return statusOf('management', new InvalidInput(error.message));
  // The surface `traces` answers Conflict with 409.
  if (form.conflictAs === 'conflict' && error instanceof Conflict) return statusOf('traces', error);
  return statusOf('management', error);
}

/**
 * Renders a failure in the form of its row. Where the form does not apply, the failure has that of the surface
 * `management`; a decision has that of `proxy`.
 */
export function renderFormedError(form: FailureForm, error: DomainError, headers: IncomingHttpHeaders): RenderedError {
  if (form.body === 'decision') return renderDecisionError(error, headers);
  if (form.body === 'mcp') return renderMcpError(error, headers);
  if (form.body === 'oauth') return renderOauthError(form, error, headers);
  const status = formStatus(form, error);
  const value = formBody(form, error, String(status));
  if (value === null) return renderError('management', error, headers);
  const formHeaders: Record<string, string> =
    error instanceof SignInThrottled || error instanceof NotReady
      ? { 'retry-after': String(error.retryAfterSeconds) }
      : {};
  const isPage = isShownAsPage(form, error) && (headers.accept ?? '').includes('text/html');
  const page = form.page === 'login' ? failedLoginPage : refusedPage;
  return isPage
    ? {
        status,
        headers: { ...SIGN_IN_HEADERS, ...formHeaders },
        contentType: 'text/html; charset=utf-8',
        body: Buffer.from(page(error.message)),
      }
    : { status, headers: formHeaders, contentType: 'application/json', body: Buffer.from(JSON.stringify(value)) };
}

function renderDecisionError(error: DomainError, headers: IncomingHttpHeaders): RenderedError {
  const rendered = renderError('proxy', error, headers);
  if (!(error instanceof UpstreamFailed)) return rendered;
  return { ...rendered, body: Buffer.from(JSON.stringify({ error: decisionError(rendered.status, error) })) };
}

function renderMcpError(error: DomainError, headers: IncomingHttpHeaders): RenderedError {
  const body = mcpToolBody(error);
  if (body === null) return renderError('management', error, headers);
  return {
    status: mcpToolStatus(error),
    headers: mcpToolHeaders(error),
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** A failure in the form of RFC 6749, or a page for browsers. */
function renderOauthError(form: FailureForm, error: DomainError, headers: IncomingHttpHeaders): RenderedError {
  const rendered = renderError('management', error, headers);
  if (!hasOauthForm(error)) return rendered;
  if (form.page !== undefined && (headers.accept ?? '').includes('text/html'))
    return {
      ...rendered,
      headers: { ...rendered.headers, ...SIGN_IN_HEADERS },
      contentType: 'text/html; charset=utf-8',
      body: Buffer.from(failedLoginPage(error.message)),
    };
  const body = Buffer.from(JSON.stringify(oauthBody(error)));
  return { ...rendered, headers: { ...rendered.headers, ...OAUTH_HEADERS }, body };
}

const isSignIn = (error: DomainError): boolean => error instanceof SignInRefused || error instanceof SignInThrottled;

const isShownAsPage = ({ page }: FailureForm, error: DomainError): boolean =>
  page === 'login' || (page === 'sign-in' && isSignIn(error));

/** Body of an error that has the same body in every form of a row; null for other errors. */
function fixedBody(error: DomainError, code: string): object | null {
  const { message } = error;
  if (error instanceof NotReady) return notReadyObject(error.state);
  if (error instanceof SignInRefused)
    return { error: { message, type: 'auth_error', param: 'invalid_credentials', code } };
  if (error instanceof SignInThrottled) return { error: { message, type: 'auth_error', param: 'username', code } };
  if (error instanceof Forbidden && error.right === 'health_model') return { detail: { error: message } };
  if (error instanceof FileOwnedStore) return { detail: { error: message, vector_store_id: error.storeId } };
  if (error instanceof UploadRefused) return { detail: { error: message, reason: error.reason } };
  if (error instanceof QueryFailed) return { detail: { error: message } };
  if (error instanceof Conflict && error.field === 'member')
    return { error: { message, type: 'team_member_already_in_team', param: 'member', code } };
  if (error instanceof Rejected || (error instanceof Forbidden && error.right === 'user_owner'))
    return { error: { message, type: 'internal_server_error', param: null, code } };
  return null;
}

/** Whether a failure has the form of the surface, although its row has a form. */
function hasSurfaceForm(form: FailureForm, error: DomainError): boolean {
  const mayHaveRowForm = error instanceof NotFound || error instanceof Conflict || error instanceof InvalidInput;
  if (!mayHaveRowForm) return true;
  const hasIssues = error instanceof InvalidInput && error.issues.length > 0;
  // Only the form `auth` applies to issues, and only to those of valid JSON.
  return hasIssues && (form.body !== 'auth' || isInvalidJson(error));
}

/** Body of a failure without a cache of answers. */
const cacheMissingBody = (form: FailureForm, message: string, code: string): object =>
  form.body === 'model'
    ? { error: { message, type: 'cache_ping_error', param: 'cache_ping', code } }
    : { detail: `Service Unhealthy (503: ${message})` };

/** The body of a failure in the form of its row; null for the form of the surface. */
function formBody(form: FailureForm, error: DomainError, code: string): object | null {
  const { message } = error;
  if (error instanceof OwnedByFile) return ownedBody(form, error, code);
  if (error instanceof StorageOff && form.body !== 'model') return { detail: { error: message } };
  if (error instanceof StorageOff) return { error: { message, type: 'auth_error', param: 'None', code } };
  if (error instanceof CacheMissing) return cacheMissingBody(form, message, code);
  const fixed = fixedBody(error, code);
  if (fixed !== null) return fixed;
  if (form.body === 'problem') return error instanceof InvalidInput ? problemBody(error, Number(code)) : null;
  if (form.body === 'decision' || form.body === 'mcp' || form.body === 'oauth' || hasSurfaceForm(form, error))
    return null;
  switch (form.body) {
    case 'detail':
      return { detail: { error: message } };
    case 'text':
      return { detail: message };
    case 'auth':
    case 'model':
      return { error: { message, type: 'auth_error', param: 'None', code } };
    case 'named':
      return { error: { message, type: errorType(error), param: fieldOf(error) ?? form.param ?? null, code } };
    case 'rule':
      return { error: { message, type: 'internal_server_error', param: null, code } };
  }
}

/**
 * Body for a change of a setting that the configuration file owns. In the form `auth` the message is the detail as JSON
 * text, as in the reference.
 */
function ownedBody(form: FailureForm, error: OwnedByFile, code: string): object {
  const { message, keys, section, ignored, resolution } = error;
  const isIgnored = ignored.length > 0;
  if (form.body === 'text')
    return { detail: { error: message, keys, section, stored_database_value_ignored: isIgnored, resolution } };
  const detail = {
    error: message,
    keys,
    section,
    ...(isIgnored ? { stored_database_value_ignored: true } : {}),
    stored_database_values_ignored: ignored,
    resolution,
  };
  if (form.body !== 'auth') return { detail };
  return { error: { message: JSON.stringify(detail), type: 'auth_error', param: 'None', code } };
}

/** Problem document (RFC 9457) for an invalid query, with the texts of the reference. */
const problemBody = ({ issues, message }: InvalidInput, status: number): object => ({
  type: 'urn:litellm:error:invalid-query-parameter',
  title: 'Invalid query parameter',
  status,
  detail: issues.length === 0 ? message : issues.map((issue) => `${issue.path.at(-1)}: ${issue.message}`).join('; '),
});

/** The invalid field that an error names. */
const fieldOf = (error: DomainError): string | null => (error instanceof InvalidInput ? error.field : null);

const errorType = (error: DomainError): string => (error instanceof NotFound ? 'not_found' : 'bad_request');
