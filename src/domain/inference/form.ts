/** One part of a form, as offsets into the form's bytes. */
export interface FormPart {
  /** Unchanged; lists are written `name[]`. */
  readonly name: string;
  /** Null for a field; a part with a file name is a file, even when the name is empty. */
  readonly filename: string | null;
  readonly contentType: string | null;
  /** Offset of its opening boundary. */
  readonly start: number;
  readonly bodyStart: number;
  /** Offset after the last byte of its content. */
  readonly bodyEnd: number;
}

/** A parsed form with files, whose bytes are not copied. */
export interface Form {
  readonly boundary: string;
  /** The unchanged form. */
  readonly bytes: Uint8Array;
  readonly parts: readonly FormPart[];
  /** Offset of its closing boundary. */
  readonly end: number;
}

/** A file in the object form of a form: its metadata, without the content. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string | null;
  readonly bytes: number;
}
