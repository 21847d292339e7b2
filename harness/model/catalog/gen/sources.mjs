// Prints what the npm packages know of models, as JSON: their data is code.
import { findProvider } from "@pydantic/genai-prices";
import { MODEL_CONFIGS } from "llm-zoo";

const providers = process.argv.slice(2);
process.stdout.write(JSON.stringify({
  zoo: Object.values(MODEL_CONFIGS),
  prices: Object.fromEntries(providers.map((id) => [id, findProvider({ providerId: id }).models])),
}));
