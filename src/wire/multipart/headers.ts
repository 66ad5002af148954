import { InvalidInput } from '../../domain/errors.ts';

/** Error for an invalid form. `reason` completes "The request body is not a valid form". */
export function invalidForm(reason: string): InvalidInput {
  const message = `The request body is not a valid form: ${reason}.`;
  return new InvalidInput(message, [{ path: ['request_body'], rule: 'multipart', message }]);
}

/** Facts from the headers of one part. */
export interface PartHeaders {
  readonly name: string;
  /** Null for a field without a file name. */
  readonly filename: string | null;
  readonly contentType: string | null;
}

const FORM_TYPE = /^\s*multipart\/form-data\s*(;|$)/i;
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/;

/** Whether the content type is `multipart/form-data`. */
export function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && FORM_TYPE.test(contentType);
}

/** Boundary in a content type. Throws InvalidInput for a missing boundary and for invalid parameters. */
export function boundaryOf(contentType: string): string {
  const boundary = parametersOf(afterSemicolon(contentType)).get('boundary');
  if (boundary === undefined) throw invalidForm('its content type has no boundary');
  if (!BOUNDARY.test(boundary)) throw invalidForm('its boundary violates RFC 2046');
  return boundary;
}

/** The text of a header value after its first semicolon. */
const afterSemicolon = (value: string): string => (value.includes(';') ? value.slice(value.indexOf(';') + 1) : '');

/** Transfer encodings that do not change the bytes of a part. */
const IDENTITY_ENCODING = /^(7bit|8bit|binary)$/i;
const HEADER = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\p{Cc}]*?)[ \t]*$/u;

/**
 * Reads the headers of one part. `text` is everything between its delimiter and its content. Throws InvalidInput for
 * missing, invalid and ambiguous headers: the gateway and the upstream must read the same part.
 */
export function headersOf(text: string): PartHeaders {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) throw invalidForm('a part has an invalid header');
    if (headers.has(name.toLowerCase())) throw invalidForm(`a part has the header ${name} twice`);
    headers.set(name.toLowerCase(), value);
  }
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^form-data\s*;/i.test(disposition)) throw invalidForm('a part has no Content-Disposition of form-data');
  const parameters = parametersOf(afterSemicolon(disposition));
  const name = parameters.get('name') ?? '';
  if (name === '') throw invalidForm('a part has no name');
  if (parameters.has('name*')) throw invalidForm('the name of a part is encoded');
  if (!IDENTITY_ENCODING.test(headers.get('content-transfer-encoding') ?? 'binary'))
    throw invalidForm(`the part "${name}" has a Content-Transfer-Encoding`);
  const encodedName = parameters.get('filename*');
  const filename = parameters.get('filename') ?? (encodedName === undefined ? null : decodedFileName(encodedName));
  return { name, filename, contentType: headers.get('content-type') ?? null };
}

const PARAMETER = /^[ \t]*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"([^"]*)"|([^\s";,]+))[ \t]*(?:;|$)/;

/** Parameters of a header value. Rejects an escaped quote, because parsers differ in reading it. */
function parametersOf(text: string): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  let rest = text;
  while (rest.trim() !== '') {
    const [matched = '', name = '', quoted, bare] = PARAMETER.exec(rest) ?? [];
    const value = quoted ?? bare;
    // `PARAMETER` ends a quoted value at an escaped quote, after the backslash.
    if (value === undefined || value.endsWith('\\')) throw invalidForm('a header has an invalid parameter');
    if (parameters.has(name.toLowerCase())) throw invalidForm(`a header has the parameter ${name} twice`);
    parameters.set(name.toLowerCase(), value);
    rest = rest.slice(matched.length);
  }
  return parameters;
}

/** File name decoded from RFC 5987. A value in another form stays unchanged. */
function decodedFileName(value: string): string {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(value) ?? [];
  if (encoded === undefined) return value;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return value;
  }
}
