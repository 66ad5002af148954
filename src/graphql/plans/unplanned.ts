/** A plan cannot answer this request. The ordinary executor does, with all errors. */
export class Unplanned extends Error {
  constructor() {
    super('The plan cannot answer this request.');
    this.name = 'Unplanned';
  }
}
