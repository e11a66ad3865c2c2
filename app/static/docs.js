// API documentation page: a successful login authorizes the following calls.
const LOGIN = /\/api\/(login|superadmin\/login|register|refresh)\/?$/;

config.responseInterceptor = (response) => {
  const token = response.ok && LOGIN.test(response.url) && response.body?.access_token;
  if (token) window.ui.preauthorizeApiKey("bearer", token);
  return response;
};
