/** One part of a form, by where it stands in the form's bytes. */
export interface FormPart {
  /** As it was sent; lists are written `name[]`. */
  readonly name: string;
  /** Null for a field; a part with a file name is a file, even when the name is empty. */
  readonly filename: string | null;
  readonly contentType: string | null;
  /** Offset of the dashes that open it. */
  readonly start: number;
  readonly bodyStart: number;
  /** Offset after the last byte of its content. */
  readonly bodyEnd: number;
}

/** A form with files in it, read but not copied. */
export interface Form {
  readonly boundary: string;
  /** The form as it came. */
  readonly bytes: Uint8Array;
  readonly parts: readonly FormPart[];
  /** Offset of the dashes that close it. */
  readonly end: number;
}

/** What stands for a file where a form is shown as an object: what it is called, not what is in it. */
export interface FormFile {
  readonly filename: string;
  readonly contentType: string | null;
  readonly bytes: number;
}
