/** Short texts between the processes of one database. Delivery is at most once: a text may be lost. */
export interface ProcessMessages {
  /** Maximum size of a text, in bytes of UTF-8. */
  readonly mostBytes: number;
  /** Sends a text to every listening process, this one included. Throws Unavailable. */
  send(text: string): Promise<void>;
  /** Listens, and connects again after a failure, until `stop`. */
  listen(listener: ProcessListener): { stop(): Promise<void> };
}

export interface ProcessListener {
  readonly message: (text: string) => void;
  /** Called each time listening begins: first, and again after each failure. Earlier texts may be lost. */
  readonly joined: () => void;
}
