import { Unsupported } from '../errors.ts';

/** A change of a model or setting while `store_model_in_db` is off. */
export class StorageOff extends Unsupported {
  constructor() {
    super("Set `'STORE_MODEL_IN_DB='True'` in your env to enable this feature.");
    this.name = 'StorageOff';
  }
}
