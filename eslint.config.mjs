// Names that no script has are found by tsc, which reads all of them together.
import js from "@eslint/js";

export default [
  { ignores: ["_build/", ".venv*/"] },
  js.configs.recommended,
  {
    languageOptions: { sourceType: "script" },
    rules: {
      "no-undef": "off",
      "no-unused-vars": ["error", { vars: "local" }],
      "prefer-const": ["error", { destructuring: "all" }],
      eqeqeq: "error",
    },
  },
  { files: ["eslint.config.mjs"], languageOptions: { sourceType: "module" } },
];
