/** How a row answers failures, where it differs from its surface; the reference has several forms. */
export interface FailureForm {
  /**
   * `detail`: `{"detail":{"error":…}}`. `text`: `{"detail":…}`. `auth`, `named` and `rule`: the OpenAI envelope, with the
   * type `auth_error`, a type by the failure and `param`, or `internal_server_error`. `model`: as `auth`, but invalid
   * parameters have the common form. `problem`: a problem document for an invalid query, else the common form.
   * `decision`: the OpenAI envelope, with a type of its own for a credential that the upstream refuses.
   */
  readonly body: 'detail' | 'text' | 'auth' | 'model' | 'named' | 'rule' | 'problem' | 'decision';
  /** Parameter of the form `named`. */
  readonly param?: string;
  /** Status class of an unknown row, where it is not that of NotFound. */
  readonly unknown?: 'bad_request';
  /** Status class of a taken id, where it is not a malformed request. */
  readonly taken?: 'conflict';
  /** Which page browsers get: `sign-in` for refused sign-ins, `login` for every failure of a login of the command line. */
  readonly page?: 'sign-in' | 'login';
}
