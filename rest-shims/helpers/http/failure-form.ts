/**
 * How a row answers failures, where body and status differ from those of its surface. The reference has several forms.
 * They apply to NotFound, Conflict and InvalidInput. Most other failures have the form of the surface.
 */
export interface FailureForm {
  /**
   * Form of the answer's body. Invalid parameters have the form of the surface, except in `auth` and `problem`.
   *
   * - `detail`: `{"detail":{"error":…}}`
   * - `text`: `{"detail":…}`
   * - `auth`: the OpenAI envelope with type `auth_error`, except for a body that is not valid JSON
   * - `model`: the OpenAI envelope with type `auth_error`
   * - `named`: the OpenAI envelope with type `not_found` or `bad_request`, and `param`
   * - `rule`: the OpenAI envelope with type `internal_server_error`
   * - `problem`: a problem document for an invalid query, else the form of the surface
   * - `mcp`: `{"detail":{"error":…,"message":…}}` with a code for failures of MCP servers, and for refusals of
   *   servers and tools
   * - `decision`: the OpenAI envelope, with type `authentication_error` if the upstream refuses the credential
   * - `oauth`: `{"error":…,"error_description":…}` (RFC 6749), except for invalid parameters
   */
  readonly body: 'detail' | 'text' | 'auth' | 'model' | 'named' | 'rule' | 'problem' | 'mcp' | 'decision' | 'oauth';
  /** Value of `param` in the form `named`. */
  readonly param?: string;
  /** `bad_request`: NotFound is answered as a malformed request, with 400. */
  readonly notFoundAs?: 'bad_request';
  /** `conflict`: Conflict is answered with 409. When absent, it is answered as a malformed request, with 400. */
  readonly conflictAs?: 'conflict';
  /**
   * HTML page for clients that accept HTML: `sign-in` for refused and throttled sign-ins, `login` for every failure
   * that has the form `body`.
   */
  readonly page?: 'sign-in' | 'login';
}
