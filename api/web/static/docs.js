// The page `/docs`: Swagger UI over `/openapi.json`, as much of it as the reader's key opens.

document.documentElement.classList.toggle("dark-mode", matchMedia("(prefers-color-scheme: dark)").matches);

SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#interface",
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // it would send the description elsewhere
});
