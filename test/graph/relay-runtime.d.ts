declare module 'relay-runtime' {
  interface Observable {
    toPromise(): Promise<unknown>;
  }
  export interface RequestParameters {
    readonly text: string;
  }
  export class RecordSource {
    toJSON(): Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  }
  export class Store {
    constructor(source: RecordSource);
    getSource(): RecordSource;
  }
  export const Network: { create(fetch: (request: RequestParameters, variables: object) => Promise<unknown>): object };
  export class Environment {
    constructor(config: { readonly network: object; readonly store: Store });
    getStore(): Store;
  }
  export function fetchQuery(environment: Environment, query: object, variables: object): Observable;
}
